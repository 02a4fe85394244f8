#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "loop/loop.h"
#include "redis/call.h"
#include "redis/failure.h"
#include "redis/reply.h"
#include "redis/target.h"

struct redisContext;

namespace rlock {

/// What a connection says first: who we are, how we speak, which database.
struct Greeting {
  std::string user;
  std::optional<std::string> password;
  int db = 0;
  bool resp3 = true;
};

/// What a server announced: a message on a channel, or the confirmation of a subscription.
struct Push {
  enum class Kind { subscribed, message } kind;
  Channel channel;
  std::string payload;
};

/// Bytes to one server over one socket: answers in the order of the questions, EVALSHA and then EVAL where the
/// server does not know the script, pushes apart from replies. Made once, it opens, talks and fails; a new attempt
/// is a new Connection (see Link). Knows nothing of topologies.
///
/// Entirely passive: look at open(), failure(), answers and pushes after a turn of the loop.
class Connection final : public Source {
 public:
  /// Identifies a question until its answer is taken or forgotten.
  using Ticket = std::uint64_t;

  /// Begins to connect; fails by itself when `open_by` passes first.
  /// REQUIRES: the address is numeric or a Unix socket; the loop outlives the connection.
  Connection(Loop& loop, const Address& address, const Tls& tls, Greeting greeting, TimePoint open_by);
  ~Connection() override;

  /// A number that no other connection of this process has; never 0.
  std::uint64_t number() const noexcept { return number_; }

  bool open() const noexcept { return state_ == State::open; }  ///< greeted: who we are has been accepted
  bool spoke() const noexcept { return spoke_; }                ///< at least one well-formed reply came
  bool resp3() const noexcept { return greeting_.resp3; }       ///< pushes come on this connection
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// The server does not know HELLO: the next attempt should greet in RESP2.
  bool wants_resp2() const noexcept { return wants_resp2_; }

  /// Sends a call (with its escort) as soon as that is safe: in one write with the greeting where neither a password nor
  /// a database number could be refused, else once the greeting has been answered.
  Ticket send(const Call& call, bool asking = false);

  /// The answer, once; nothing while it is not there.
  std::optional<Reply> take(Ticket ticket);
  bool answered(Ticket ticket) const;

  /// Nobody waits for this answer any more: it will be dropped when it comes.
  void forget(Ticket ticket);

  /// Answers that are still owed, forgotten ones included.
  bool owes() const noexcept { return !expected_.empty(); }

  /// SUBSCRIBE (or SSUBSCRIBE): confirmed by a push, or refused in its place in the order (refusal()).
  void subscribe(const Channel& channel, bool sharded);
  void unsubscribe(const Channel& channel, bool sharded);
  std::vector<Push> take_pushes();
  bool has_pushes() const noexcept { return !pushes_.empty(); }
  const std::optional<std::string>& refusal() const noexcept { return refusal_; }  ///< of a subscription

  /// Gives up on this connection: fails with `why`, closes the socket.
  void fail(Failure why);

  int fd() const override;
  short interest() const override;
  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  enum class State { connecting, securing, greeting, open, failed };
  enum class Role { hello, auth, select, name, asking, call, escort, subscribe };

  /// What the next answer in the order belongs to.
  struct Expected {
    Role role;
    Ticket ticket = 0;
    Call call;  ///< of a script: to be sent again as EVAL on NOSCRIPT
    bool asking = false;
  };
  struct Close {
    void operator()(redisContext* context) const;
  };

  void connect();
  void connected();
  void greet();
  bool greets_alone() const;
  void greeted();
  void write(Expected expected, const char* verb);
  void write(const std::vector<std::string>& words);
  void flush();
  void receive();
  void accept(Reply reply);
  bool accept_push(const Reply& reply, bool shaped_as_push);
  void accept_greeting(Role role, const Reply& reply);
  void accept_answer(Expected expected, Reply reply);

  Loop& loop_;
  const Address address_;
  const Tls tls_;
  Greeting greeting_;
  const TimePoint open_by_;
  const std::uint64_t number_;
  State state_ = State::connecting;
  std::unique_ptr<redisContext, Close> context_;
  std::deque<Expected> expected_;
  std::deque<Expected> held_back_;  ///< what waits for the socket, or for the greeting's answer
  std::map<Ticket, std::optional<Reply>> answers_;
  std::vector<Push> pushes_;
  std::optional<Failure> failure_;
  std::optional<std::string> refusal_;
  Ticket next_ticket_ = 1;
  bool spoke_ = false;
  bool wants_resp2_ = false;
  bool listens_ = false;  ///< has subscribed: in RESP2 arrays may be pushes
};

}  // namespace rlock
