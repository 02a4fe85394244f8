#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "redis/connection.h"
#include "redis/message.h"

namespace rlock {

/// Which connection serves this key now. One Route leads to one node: a server, the primary that a
/// Sentinel names, or a Cluster. It connects, reconnects
/// with back-off, and follows failovers and moved slots.
class Route : public Source {
 public:
  struct NotYet {};  ///< it is finding out where to connect to: see connecting()
  using Choice = std::variant<Connection*, NotYet, Failure>;

  /// A connection that may be written to, *not yet*, or why the
  /// last attempt failed: the next attempt is already planned.
  [[nodiscard]] virtual Choice connection_for(std::string_view key, TimePoint now) = 0;

  /// Does connection_for() answer NotYet? The route works on by itself, as a source of the loop;
  /// as soon as this becomes false, connection_for() is worth asking again.
  virtual bool connecting() const = 0;

  /// Which server it is trying to reach meanwhile, for messages. Empty where str() says it, or nobody knows yet.
  virtual std::string connecting_to() const { return {}; }

  /// When connection_for() is worth asking again after a failure.
  virtual TimePoint next_attempt() const = 0;

  /// What an error reply means for the call that got it.
  enum class [[nodiscard]] Verdict {
    pass_on,  ///< it is the caller's answer
    again,    ///< ask again at once: the route has learned something
    asking,   ///< ask again at once where connection_for() now leads, with ASKING in front
    later,    ///< ask again after a pause: the server cannot answer now (LOADING, BUSY, ...)
  };
  virtual Verdict judge(std::uint64_t connection, const Reply& error, std::string_view key,
                        TimePoint now) = 0;

  /// Does this error say that the server is not what the URL names it? Then why, and the right URL.
  virtual std::optional<Failure> wrong_url(const Reply&) const { return std::nullopt; }

  /// The run ids of the servers that it is connected to, as far as they were asked for.
  virtual std::set<std::string> run_ids() const { return {}; }

  /// The answer to a call on this connection is late: the connection is not
  /// used again. Its socket stays open, unread, for send_on_abandoned().
  virtual void abandon(std::uint64_t connection, TimePoint now) = 0;

  /// Writes `calls` behind those that the abandoned connections still carry: a frozen server that wakes up
  /// carries those out and then undoes them. Nobody waits for an answer.
  virtual void send_on_abandoned(const std::vector<Call>& calls) = 0;

  /// The connection with this number, if it is alive.
  virtual Connection* find(std::uint64_t connection) = 0;

  /// Did a server of this node ever send a well-formed reply?
  virtual bool contacted() const = 0;

  /// Which server this connection leads to, for messages. Empty where str() says it.
  virtual std::string server_of(std::uint64_t) { return {}; }

  /// How many open connections were lost. Only grows.
  virtual std::uint64_t losses() const { return 0; }

  /// Listens on a channel, again after each reconnection, until unwatch().
  virtual void watch(const Channel& channel) = 0;
  virtual void unwatch(const Channel& channel) = 0;

  /// How often there was a reason to ask again: messages plus confirmed (re-)subscriptions. Only grows.
  virtual std::uint64_t wakeups() const = 0;

  /// The newest of them since the last take, with what they say.
  virtual std::vector<Message> take_messages() = 0;

  /// Why this node sends no messages: SUBSCRIBE was refused. Nothing: it was not.
  virtual const std::optional<std::string>& subscribe_error() const = 0;

  /// What it is called in messages, without secrets.
  virtual std::string str() const = 0;
};

}  // namespace rlock
