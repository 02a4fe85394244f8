#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/names.h"
#include "redis/call.h"
#include "redis/handshake.h"
#include "redis/reply.h"
#include "redis/reply_reader.h"

namespace rlock {

/// What a server sent of a channel: a message, or what became of a subscription to it.
struct Push {
  enum class Kind { subscribed, unsubscribed, refused, message } kind;
  Channel channel;
  bool sharded = false;
  Reply reply{};       ///< refused: the error
  std::string text{};  ///< message: its beginning
};

/// A call given to a connection. Its caller and the connection share it, so
/// its result outlives the connection.
struct InFlightCall {
  std::optional<Reply> answer;
  bool written = false;    ///< the server may have received it
  bool again = false;      ///< the next connection greets in RESP2: the same call is worth sending at once
  bool forgotten = false;  ///< the caller does not want the answer; a call not yet written never will be
  std::size_t followers_left = 0;  ///< how many of its followers have not been carried out, as far as we know
};

/// How a call is written.
struct Writing {
  std::vector<Call> followers{};  ///< after it in the same write; their replies are ignored
  bool with_source = false;       ///< scripts as text where this connection has not carried them yet
  bool asking = false;            ///< each with ASKING before it
};

/// The order of commands and replies on one connection, as a state machine: the next reply belongs to the
/// first command that has none yet; EVALSHA is followed by EVAL where the server does not know the script;
/// pushes come between the replies; calls are held back until the greeting allows them. Commands come out and
/// replies go in as values: it knows neither the socket nor the time.
class Pipeline {
 public:
  /// `resp3`: pushes are marked as such.
  explicit Pipeline(bool resp3) : resp3_(resp3) {}

  /// Commands of the greeting: written at once, also while calls are held back.
  void greet(std::vector<CommandWords> commands);

  /// The greeting allows calls from now on: those that were held back are written.
  void open();

  /// No call is written any more, and replies to calls are ignored.
  /// What was written before may still be carried out.
  void close() noexcept { state_ = State::closed; }

  /// All calls that are in flight are worth sending again on the next connection.
  void send_again_elsewhere();

  /// Sends a call and its followers.
  std::shared_ptr<InFlightCall> send(const Call& call, const Writing& writing);

  /// Writes calls whose replies will not be read: scripts as text (once), since we could not react to a
  /// NOSCRIPT. Does nothing unless open.
  void leave_behind(const std::vector<Call>& calls);

  void subscribe(const Channel& channel, bool sharded);
  void unsubscribe(const Channel& channel, bool sharded);

  /// Are calls waiting for open()?
  bool holds_back() const noexcept { return !held_back_.empty(); }

  /// Takes the commands that are to be written now, in this order.
  [[nodiscard]] std::vector<CommandWords> take_commands() { return std::exchange(unwritten_, {}); }

  /// How many bytes of memory the next reply may take: its call says so. Other replies are not kept.
  [[nodiscard]] std::size_t largest_reply() const;

  /// Gives what came to the command it belongs to. A reply to a command of the greeting is
  /// handed back. Throws Error{unreachable} or Error{internal} for what no server should send.
  [[nodiscard]] std::optional<Reply> accept(ReplyReader::Item item);

  /// What came for the channels that are subscribed to. Of a flood only the beginning is kept.
  [[nodiscard]] std::vector<Push> take_pushes() { return std::exchange(pushes_, {}); }
  bool has_pushes() const noexcept { return !pushes_.empty(); }

  /// Is a call forgotten that has been written, and has no reply yet?
  bool has_unanswered() const;

 private:
  enum class State { held, open, closed };
  enum class Role { greeting, asking, call, follower, subscription, nobody };
  enum class Form { by_hash, as_text };

  /// The command that a reply belongs to.
  struct Expected {
    Role role;
    std::shared_ptr<InFlightCall> in_flight{};  ///< of a call and of its followers
    Call call{};                                ///< the whole of it: it is sent again on NOSCRIPT
    std::vector<Call> followers{};              ///< of a call: they are sent again with it
    bool with_source = false;
    bool asking = false;
    Form form = Form::by_hash;
  };

  void put(Expected expected);
  void write(Expected expected);
  bool hash_will_do(const Expected& expected);
  bool accept_push(const Reply& reply, bool marked);
  void keep(Push push);
  void accept_refusal(const Call& subscription, Reply reply);
  void accept_answer(Expected expected, Reply reply);
  void write_as_text(Expected expected);

  const bool resp3_;
  State state_ = State::held;
  std::deque<Expected> expected_;   ///< written; the next reply belongs to the first
  std::deque<Expected> held_back_;  ///< until open()
  std::vector<CommandWords> unwritten_;
  std::set<const Script*> taught_;                 ///< written as text before: the server knows their hash
  std::set<std::pair<Channel, bool>> subscribed_;  ///< to which channels; sharded or not
  bool has_subscribed_ = false;                    ///< in RESP2 arrays may be pushes from then on
  std::vector<Push> pushes_;
};

}  // namespace rlock
