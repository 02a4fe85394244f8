#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "redis/call.h"
#include "redis/connection/handshake.h"
#include "redis/connection/reply_reader.h"
#include "redis/message.h"
#include "redis/reply.h"

namespace rlock {

/// A push on a channel: a message, or the result of a subscription.
struct Push {
  enum class Kind { subscribed, unsubscribed, refused, message } kind;
  Channel channel;
  bool sharded = false;
  Reply reply{};       ///< of a refused subscription: the error
  std::string text{};  ///< of a message: the beginning of its text
};

/// A call that was given to a connection. Its caller and the connection share it, so the result outlives the
/// connection.
struct InFlightCall {
  std::optional<Reply> reply;
  bool written = false;    ///< the server may have received it
  bool again = false;      ///< the next connection will use RESP2: send the same call again at once
  bool forgotten = false;  ///< the caller does not want the reply; a call that is not yet written is dropped
  std::size_t followers_left = 0;  ///< number of followers that may not have been carried out yet
};

/// How to write a call.
struct Writing {
  std::vector<Call> followers{};  ///< calls behind it in the same write; their replies are ignored
  bool with_source = false;       ///< send the source of scripts that this connection has not carried yet
  bool asking = false;            ///< write ASKING before each of them
};

/// The order of commands and replies on one connection, as a state machine. The next reply belongs to the
/// first command without a reply. EVAL follows EVALSHA if the server does not know the script. Pushes come
/// between the replies. Calls are held back until the greeting allows them. Commands come out and replies go
/// in; it knows neither socket nor clock.
class Pipeline {
 public:
  /// `resp3`: the server marks pushes.
  explicit Pipeline(bool resp3) : resp3_(resp3) {}

  /// Commands of the greeting. They are written at once, even if calls are held back.
  void greet(std::vector<CommandWords> commands);

  /// The greeting allows calls now: writes the calls that were held back.
  void open();

  /// Writes no more calls, and ignores replies to calls. The server may still carry out calls that were
  /// written before.
  void close() noexcept { state_ = State::closed; }

  /// Marks all calls in flight: they should be sent again on the next connection.
  void send_again_elsewhere();

  /// Sends a call and its followers.
  std::shared_ptr<InFlightCall> send(const Call& call, const Writing& writing);

  /// Writes calls whose replies are not read. Their scripts are sent with the source (once), because we could
  /// not react to NOSCRIPT. Does nothing unless open.
  void leave_behind(const std::vector<Call>& calls);

  void subscribe(const Subscription& to);
  void unsubscribe(const Subscription& from);

  /// Is there a command that take_commands() would return?
  bool has_commands() const noexcept { return !unwritten_.empty(); }

  /// Are calls waiting for open()?
  bool holds_back() const noexcept { return !held_back_.empty(); }

  /// Takes the commands to write now, in order.
  [[nodiscard]] std::vector<CommandWords> take_commands() { return std::exchange(unwritten_, {}); }

  /// The most memory that the next reply may take, in bytes. Its call sets this limit.
  [[nodiscard]] std::size_t largest_reply() const;

  /// Takes the next reply. If it answers a command of the greeting, returns it. Throws Error{unreachable} if no
  /// command waits for a reply, and Error{internal} if a subscription is answered by anything but an error.
  [[nodiscard]] std::optional<Reply> accept(ReplyReader::Item item);

  /// The pushes for our channels. In a flood only the first are kept.
  [[nodiscard]] std::vector<Push> take_pushes() { return std::exchange(pushes_, {}); }
  bool has_pushes() const noexcept { return !pushes_.empty(); }

  /// Has a caller given up a script that was written and whose reply has not come yet? A plain command, such as PING,
  /// leaves nothing to undo.
  bool has_unanswered() const;

  /// Is any reply still to come?
  bool expects_replies() const noexcept { return !expected_.empty(); }

 private:
  enum class State { held, open, closed };
  enum class Role { greeting, asking, call, follower, subscription, nobody };
  enum class Form { by_hash, by_source };

  /// A written or waiting command, and what to do with its reply.
  struct Expected {
    Role role;
    std::shared_ptr<InFlightCall> in_flight{};  ///< for a call and its followers
    Call call{};                                ///< the whole call, because NOSCRIPT makes us send it again
    std::vector<Call> followers{};              ///< for a call: they are sent again with it
    bool with_source = false;
    bool asking = false;
    Form form = Form::by_hash;
  };

  void put(Expected expected);
  void write(Expected expected);
  bool hash_will_do(const Expected& expected) const;
  bool accept_push(const Reply& reply, bool marked);
  void store(Push push);
  void accept_refusal(const Call& subscription, Reply reply);
  void accept_answer(Expected expected, Reply reply);
  void write_with_source(Expected expected);

  const bool resp3_;
  State state_ = State::held;
  std::deque<Expected> expected_;   ///< written commands; the next reply belongs to the first
  std::deque<Expected> held_back_;  ///< calls that wait for open()
  std::vector<CommandWords> unwritten_;
  std::set<const Script*> taught_;  ///< scripts whose source was sent: the server knows their hashes
  std::set<Subscription> subscribed_;
  bool has_subscribed_ = false;  ///< since then, in RESP2, arrays may be pushes
  std::vector<Push> pushes_;
};

}  // namespace rlock
