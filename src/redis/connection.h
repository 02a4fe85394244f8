#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/names.h"
#include "loop/loop.h"
#include "redis/call.h"
#include "redis/dial.h"
#include "redis/failure.h"
#include "redis/reply.h"
#include "redis/server_identity.h"
#include "redis/target.h"
#include "redis/wire.h"

namespace rlock {

/// What a connection says first: who we are, how we speak, which database.
struct Greeting {
  std::string user;
  std::optional<std::string> password;
  int db = 0;
  bool resp3 = true;
  Meant meant{};               ///< somebody else who answers is a failure
  bool ask_run_id = false;     ///< behind the rest, in the same write
  bool after_silence = false;  ///< connections were given up that may not have been read to their end
};

/// What a server announced: a message on a channel, or what became of a subscription to it.
struct Push {
  enum class Kind { subscribed, unsubscribed, refused, message } kind;
  Channel channel;
  bool sharded = false;
  Reply reply{};  ///< refused: the error
};

/// A call on its way, shared by who asks and the connection
/// that carries it: what is known outlives the connection.
struct Question {
  std::optional<Reply> answer;
  bool written = false;    ///< the server may have heard it
  bool again = false;      ///< the server greets another way: the same question is worth asking at once
  bool forgotten = false;  ///< nobody waits for the answer; what has not been written yet never will be
};

/// Bytes to one server over one socket: answers in the order of the questions, EVALSHA and then EVAL where
/// the server does not know the script, pushes apart from replies. Made once, it opens, talks and fails; a
/// new attempt is a new Connection (see Link). Knows nothing of topologies.
///
/// Entirely passive: look at open(), failure(), answers and pushes after a turn of the loop.
class Connection final : public Source {
 public:
  /// Begins to connect, with TLS if there is a context for it; fails by itself when `open_by` passes first.
  /// REQUIRES: the loop outlives the connection.
  Connection(Loop& loop, const Address& address, std::shared_ptr<const TlsContext> tls, Greeting greeting,
             TimePoint open_by);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A number that no other connection of this process has; never 0.
  std::uint64_t number() const noexcept { return number_; }

  bool open() const noexcept { return state_ == State::open; }  ///< greeted: who we are has been accepted
  TimePoint opened_at() const noexcept { return opened_at_; }   ///< REQUIRES: open()
  /// At least one well-formed reply came, of the server that was meant.
  bool spoke() const noexcept { return spoke_ && !stranger_; }
  const ServerIdentity& identity() const noexcept { return identity_; }  ///< as far as it has said who it is
  bool resp3() const noexcept { return greeting_.resp3; }                ///< pushes come on this connection
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// Why it is not open yet, as a reason to give up. REQUIRES: neither open nor failed
  std::string silence() const;

  /// The next attempt should greet in RESP2. `told`: the server said that it does not know HELLO 3;
  /// `suspected`: it hung up when it heard it, as some old servers and proxies do.
  enum class Resp2 { no, suspected, told };
  Resp2 wants_resp2() const noexcept { return wants_resp2_; }

  /// Sends a call (with its followers) as soon as that is safe: in one write with the greeting where neither
  /// a password nor a database number could be refused, else once the greeting has been answered.
  std::shared_ptr<Question> send(const Call& call, bool asking = false);

  /// Writes a call and its followers, whose answers nobody will read:
  /// scripts as text (once), for nobody could send them after a NOSCRIPT.
  void leave_behind(const Call& call);

  /// May the server still carry out a call that was given up before it was answered?
  bool has_unanswered() const;

  /// SUBSCRIBE (or SSUBSCRIBE): confirmed by a push, or refused in its place in the order.
  void subscribe(const Channel& channel, bool sharded);
  void unsubscribe(const Channel& channel, bool sharded);
  /// What has come since, of the channels that are subscribed to; of a flood the beginning.
  std::vector<Push> take_pushes() { return std::exchange(pushes_, {}); }
  bool has_pushes() const noexcept { return !pushes_.empty(); }

  /// Gives up on this connection: fails with `why`, closes the socket.
  void fail(Failure why);

  /// Reads nothing any more, and frees what it has read. What it
  /// still carries stays on its way, and leave_behind() works.
  /// REQUIRES: it has left the loop
  void stop_reading();

  int fd() const override;
  short interest() const override;
  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  enum class State { dialing, securing, greeting, open, failed };
  enum class Role { hello, auth, select, name, run_id, stranger, asking, call, followers, subscribe, nobody };
  enum class Form { by_hash, as_text };

  /// What the next answer in the order belongs to.
  struct Expected {
    Role role;
    std::shared_ptr<Question> question{};  ///< of a call and of its followers
    Call call{};                           ///< of a script: to be sent again as a whole on NOSCRIPT
    bool asking = false;
    Form form = Form::by_hash;
  };

  void connected();
  void begin_greeting();
  void greet();
  bool greets_alone() const;
  bool may_write() const;
  void put(Expected expected);
  bool hash_will_do(const Expected& expected);
  void write(Expected expected);
  void write_held_back();
  void flush();
  void receive();
  void accept(Reply reply);
  std::size_t most_to_read() const;
  bool accept_push(const Reply& reply, bool shaped_as_push);
  void keep(Push push);
  void accept_greeting(Role role, const Reply& reply);
  void ask_stranger();
  void greet_in_resp2(Resp2 reason);
  Failure refused(Role role, const Reply& reply);
  void accept_refusal(const Call& subscription, Reply reply);
  void accept_answer(Expected expected, Reply reply);
  void write_as_text(Expected expected);

  Loop& loop_;
  const Address address_;
  const std::shared_ptr<const TlsContext> tls_;
  const Greeting greeting_;
  const TimePoint open_by_;
  const std::uint64_t number_;
  State state_ = State::dialing;
  Dial dial_;
  std::optional<Wire> wire_;
  std::optional<ReplyReader> reader_{std::in_place};  ///< nothing: it is not read any more
  std::deque<Expected> expected_;
  std::deque<Expected> held_back_;  ///< what waits for the socket, or for the greeting's answer
  std::set<const Script*> taught_;  ///< written as text before: the server knows their hash by then
  std::set<std::pair<Channel, bool>> subscribed_;  ///< to which channels; sharded or not
  std::vector<Push> pushes_;
  std::optional<Failure> failure_;
  TimePoint opened_at_{};
  ServerIdentity identity_;
  bool spoke_ = false;
  bool stranger_ = false;  ///< it is not the kind of server that was meant
  Resp2 wants_resp2_ = Resp2::no;
  bool listens_ = false;  ///< has subscribed: in RESP2 arrays may be pushes
};

}  // namespace rlock
