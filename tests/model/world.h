#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hold.h"
#include "interpreter.h"
#include "store.h"

namespace rlock::model {

/// One client: what it takes, one after the other.
struct ClientPlan {
  std::string name;
  std::string type;
  std::vector<std::shared_ptr<const Hold>> holds;
  std::int64_t lease;
  std::string owner;
  int inside = -1;            ///< it begins only while this client holds
  std::int64_t min_hold = 0;  ///< --min-hold, or --once-per
  bool once = false;          ///< --once-per: what it keeps is marked as done
  bool newest = false;        ///< --newest
  bool stays = false;  ///< several servers: its owner is the same in each round, for which it has a hold
};

/// Who does what, and how much goes wrong. Several worlds share one.
struct Setting {
  std::string name;
  std::vector<ClientPlan> clients;
  std::vector<std::string> keys;  ///< those that people name
  Words begins{};                 ///< a command that makes what the clients need
  int faults = 0;  ///< calls that are late or whose reply is lost, connections for messages that break
  int crashes = 0;
  int renewals = 1;       ///< of each hold; then it is released
  bool gives_up = true;   ///< a waiter may give up at any time
  bool walks = false;     ///< too large to be explored to its end: by random walks
  int losses = 0;         ///< a key vanishes, or all do
  int nodes = 1;          ///< more: see quorum.h
  std::int64_t jump = 0;  ///< ms by which the server's clock jumps once, ahead or back; 0: it does not
};

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

enum class Phase : char { idle, asking, sleeping, holding, releasing, following, undoing, done, crashed };

/// A call on a connection that its client has abandoned: the server may execute it later.
struct Late {
  std::shared_ptr<const Call> call;
  const char* what;
};

struct Abandoned {
  int client;
  std::int64_t breaks_at;
  std::vector<Late> calls;
};

struct Client {
  Phase phase = Phase::idle;
  std::size_t hold = 0;
  std::int64_t due = 0;     ///< when it acts next
  std::int64_t begun = 0;   ///< its wait
  std::int64_t asked = 0;   ///< the last call that gave it its lease
  std::int64_t ticket = 0;  ///< --newest
  std::int64_t held_since = 0;
  int renewals = 0;
  int tries = 0;  ///< of what it asks now that came to no answer
  bool asked_once = false;
  bool woken = false;      ///< it sleeps, but has heard that it is worth asking
  bool late_asks = false;  ///< a copy of an acquire may be on its way
  bool lost = false;       ///< it was told that the lock is not its own
  bool robbed = false;     ///< the server has broken its word: nobody answers for this hold
  std::optional<Busy> busy{};
  std::vector<std::shared_ptr<const Call>> then{};
};

/// One thing that may happen.
struct Event {
  enum class Kind { call, release, give_up, crash, cut, deliver, drop, tick, jump, vanish } kind;
  int who = 0;  ///< a client, an abandoned connection, or a key (one more than there are: all of them)
  enum class Fate { answered, unanswered, late } fate = Fate::answered;
};

/// A server, its clients, and what is on its way between them. A value: copies go different ways.
///
/// The clients are a model of src/sync/{acquire,undo,keeper,release}.cpp for one server, with the real
/// calls and the real reading of answers. A call and its reply are one moment, unless it has a worse fate:
/// the reply is lost, or the call stays on its way. Then the client abandons the connection, and asks again
/// on another.
class World {
 public:
  World(const Setting& setting, Interpreter& lua);

  std::vector<Event> events() const;

  /// What is wrong now, if something is. `trace`: gets what redis-cli needs to do the same.
  std::optional<std::string> apply(const Event& event, std::vector<std::string>* trace = nullptr);

  /// Equal for worlds in which the same things can happen.
  std::string describe() const;

  bool at_rest() const;

 private:
  using Fate = Event::Fate;

  const ClientPlan& plan(int who) const { return setting_->clients[static_cast<std::size_t>(who)]; }
  const Hold& hold(int who) const { return *plan(who).holds[clients_[static_cast<std::size_t>(who)].hold]; }
  Client& client(int who) { return clients_[static_cast<std::size_t>(who)]; }
  const Client& client(int who) const { return clients_[static_cast<std::size_t>(who)]; }

  /// By the clock of the clients. That of the server may have jumped.
  std::int64_t now() const { return store_.now() - jumped_; }

  // what happens: world.cpp
  bool may_begin(int who) const;
  bool acts(int who) const;
  bool urgent() const;
  std::int64_t next_time() const;
  void add_fates(std::vector<Event>& events, Event event) const;
  Reply execute(int who, const Call& call, const char* what);
  std::vector<Reply> send(int who, const std::vector<Call>& calls, const char* what, Fate fate);
  void send_on_abandoned(int who, const std::vector<Call>& calls, const char* what);
  void act(int who, Fate fate);
  void ask(int who, Fate fate);
  void arrive(int who, Fate fate);
  void sleep(int who);
  void listen(int who);
  void hear(int who, const std::string& channel, const std::optional<std::string>& text);
  void renew(int who, Fate fate);
  void release(int who, Fate fate);
  void follow(int who, Fate fate);
  void finish_release(int who);
  std::int64_t keep_until(int who) const;
  void give_up(int who);
  void undo(int who, Fate fate);
  void end_hold(int who);
  void crash(int who);
  void deliver(int connection);
  void tick();
  void jump();
  void vanish(int key);
  void rob_holders();
  void hand_out_messages();
  void note(const std::string& line);

  // what must be true: judge.cpp
  bool sure(int who) const;
  bool is_written(int who) const;
  std::int64_t sure_until(int who) const;
  void judge();
  void judge_exclusion();
  void judge_backing(int who);
  void judge_permits(int who, const std::string& taken);
  void judge_ttls();
  void judge_queue(const std::string& key);
  void judge_wait();
  void judge_line(const std::string& key);
  std::int64_t seen_by_redisson() const;
  void judge_rest();
  void judge_kept();
  bool is_marked(const std::string& key);
  void judge_semaphore();
  void judge_latch();
  void judge_newest(int who, const Call& call, const Reply& reply, bool had_it);
  void judge_fences(int who, const std::vector<std::int64_t>& fences);
  void blame(const std::string& what);
  bool held(const std::string& key) const;
  void remember_ttls();

  const Setting* setting_;
  Interpreter* lua_;
  mutable Store store_;
  std::vector<Client> clients_;
  std::vector<Abandoned> abandoned_;
  int faults_;
  int crashes_;
  int losses_;
  std::int64_t jumped_ = 0;        ///< so far the server's clock is ahead of that of the clients
  bool waiter_died_ = false;       ///< it may have been told that it is its turn
  bool unmended_ = false;          ///< keys have vanished, and nobody has looked since
  bool excused_ = false;           ///< somebody ended without a last word: what it held ends with its lease
  std::int64_t free_since_ = 0;    ///< nobody holds it although somebody waits; 0: not so
  std::int64_t newest_drawn_ = 0;  ///< of all tickets the largest,
  std::int64_t newest_told_ = 0;   ///< and of those whose clients know them
  std::map<std::string, std::int64_t> last_fence_{};   ///< of each key
  std::map<std::string, std::int64_t> kept_until_{};   ///< what was released with --min-hold: server time
  std::map<std::string, std::int64_t> ends_before_{};  ///< of what people name: when it would have ended
  std::optional<std::string> wrong_{};
  std::vector<std::string>* trace_ = nullptr;
};

}  // namespace rlock::model
