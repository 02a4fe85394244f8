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

/// A client, and its holds, one after the other.
struct ClientPlan {
  std::string name;
  std::string type;
  std::vector<std::shared_ptr<const Hold>> holds;
  std::int64_t lease;
  std::string owner;
  int inside = -1;            ///< it begins only while this client holds
  std::int64_t min_hold = 0;  ///< --min-hold, or --once-per
  bool once = false;          ///< --once-per: a kept key is marked as done
  bool newest = false;        ///< --newest
  bool stays = false;      ///< with several servers: it has the same owner in each round, and a hold for each
                           ///< round
  bool strict = false;     ///< --sync-replicas
  bool classic = false;    ///< a client of Redisson 3.17.7
  std::int64_t count = 1;  ///< permits
};

/// The clients of a world, and how many things go wrong. Several worlds share one Setting.
struct Setting {
  std::string name;
  std::vector<ClientPlan> clients;
  std::vector<std::string> keys;  ///< the keys that the clients name
  Words begins{};                 ///< a command that makes the counter that the clients need
  int faults = 0;                 ///< late calls, lost replies, and broken connections for messages
  int crashes = 0;
  int renewals = 1;       ///< how often each hold is renewed before its release
  bool gives_up = true;   ///< a waiter may give up at any time
  bool walks = false;     ///< too large to be explored to the end: explored by random walks
  int losses = 0;         ///< how often a key vanishes, or all keys do
  int nodes = 1;          ///< more than one: see quorum.h
  std::int64_t jump = 0;  ///< the server's clock jumps once by this many ms, ahead or back; 0: it does not
  bool counts_passes = false;  ///< the rule counts that a waiter is passed ten times at most
  int failovers = 0;           ///< how often a replica takes the server's place
};

constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

enum class Phase : char {
  idle,
  asking,
  sleeping,
  confirming,  ///< --sync-replicas: the server has granted the lock, and the client waits for the replica
  holding,
  releasing,
  following,
  undoing,
  done,
  crashed
};

/// A call on an abandoned connection: the server may carry it out later.
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
  std::int64_t begun = 0;   ///< when its wait began
  std::int64_t asked = 0;   ///< the time of the last call that gave it its lease
  std::int64_t ticket = 0;  ///< --newest
  std::int64_t held_since = 0;
  std::int64_t written =
      0;  ///< --sync-replicas: the write that the replica must have; 0: the client does not wait for it
  std::int64_t renewed_at = 0;         ///< if confirmed, the lease runs from here
  std::vector<std::int64_t> fences{};  ///< the tokens of its hold
  std::int64_t arrived =
      0;           ///< its place in the order of arrival in a fair queue; 0: it is not known to be there
  int passed = 0;  ///< how many later clients have passed it in a lock's line
  int renewals = 0;
  int tries = 0;  ///< unanswered tries of the current call
  bool asked_once = false;
  bool woken = false;      ///< it sleeps, but a message was a reason to ask
  bool late_asks = false;  ///< a copy of an acquire may be in flight
  bool lost = false;       ///< the server said that the lock is not its own
  bool robbed = false;     ///< the server broke a promise, so this hold is not judged
  std::optional<Busy> busy{};
  std::vector<std::shared_ptr<const Call>> then{};
};

/// One thing that may happen.
struct Event {
  enum class Kind {
    call,
    release,
    give_up,
    crash,
    cut,
    deliver,
    drop,
    tick,
    jump,
    vanish,
    replicate,
    confirm,
    fail_over
  } kind;
  int who = 0;  ///< a client, an abandoned connection, or a key (one more than the last key: all of them)
  enum class Fate { answered, unanswered, late } fate = Fate::answered;
};

/// A server, its clients, and the calls in flight. A value: copies can go different ways.
///
/// The clients are a model of src/sync/wait/{acquire,undo}.cpp and src/sync/hold/{keeper,release}.cpp for one server,
/// with the real calls and the real reading of answers. Without a fault, a call and its reply happen in one moment.
/// With a fault, the reply is lost, or the call stays in flight. Then the client abandons the connection, and asks
/// again on another one.
class World {
 public:
  World(const Setting& setting, Interpreter& lua);

  std::vector<Event> events() const;

  /// Applies an event. Returns the violated rule, if there is one. `trace` gets the redis-cli commands that
  /// do the same.
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

  /// The time by the clock of the clients; the server's clock may have jumped.
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
  void begin_hold(int who);
  void confirm(int who);
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
  void fail_over();
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
  bool is_faultless() const;
  void judge_order(int who);
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
  int failovers_;
  std::optional<Store> replica_{};
  std::int64_t writes_ = 0;        ///< how many calls the server has carried out
  std::int64_t replicated_ = 0;    ///< how many of these the replica has
  std::int64_t arrivals_ = 0;      ///< how many clients have come to wait
  std::int64_t jumped_ = 0;        ///< how far the server's clock is ahead of the clients' clock
  bool waiter_died_ = false;       ///< a dead waiter may have been told that its turn has come
  bool unmended_ = false;          ///< keys have vanished, and no client has looked since
  bool excused_ = false;           ///< a client ended without a last answer: its hold ends with its lease
  std::int64_t free_since_ = 0;    ///< since when a lock is free although a client waits; 0: none is
  std::int64_t newest_drawn_ = 0;  ///< the largest of all tickets
  std::int64_t newest_told_ = 0;   ///< the largest ticket that its client knows
  std::map<std::string, std::int64_t> last_fence_{};   ///< for each key
  std::map<std::string, std::int64_t> kept_until_{};   ///< the server times until which --min-hold keeps keys
  std::map<std::string, std::int64_t> ends_before_{};  ///< expiry of each named key before the event
  std::optional<std::string> wrong_{};
  std::vector<std::string>* trace_ = nullptr;
};

}  // namespace rlock::model
