#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "redis/connection/connection.h"
#include "redis/connection_number.h"
#include "redis/message.h"

namespace rlock {

/// The way to one node: a server, the primary that a Sentinel names, or a Cluster. A Route connects,
/// reconnects with back-off, and follows failovers and moved slots. It chooses the connection for a key.
class Route : public Source {
 public:
  struct NotYet {};  ///< the route is finding a server: see connecting()
  using Choice = std::variant<Connection*, NotYet, Failure>;

  /// A connection that may be written to, NotYet, or why the last attempt failed. After a failure the next
  /// attempt is already planned.
  [[nodiscard]] virtual Choice connection_for(std::string_view key, TimePoint now) = 0;

  /// Does connection_for() return NotYet? Then the route works by itself, as a source of the loop. When this
  /// becomes false, call connection_for() again.
  virtual bool connecting() const = 0;

  /// The server that it tries to reach, for messages. Empty: str() names it, or it is not known yet.
  virtual std::string connecting_to() const { return {}; }

  /// When to call connection_for() again after a failure.
  virtual TimePoint next_attempt() const = 0;

  /// What an error reply means for its call.
  enum class [[nodiscard]] Verdict {
    deliver,  ///< it is the answer for the caller
    again,    ///< send the call again at once: the route has learned something
    asking,   ///< send it again at once to where connection_for() leads now, with ASKING before it
    later,    ///< send it again after a pause: the server cannot answer now (LOADING, BUSY, …)
  };
  virtual Verdict judge(ConnectionNumber connection, const Reply& error, std::string_view key,
                        TimePoint now) = 0;

  /// Does this error mean that the server is of another kind than the URL says? Then returns a failure that
  /// names the right URL.
  virtual std::optional<Failure> wrong_url(const Reply&) const { return std::nullopt; }

  /// The run ids of its servers, as far as they were asked for.
  virtual std::set<std::string> run_ids() const = 0;

  /// A reply on this connection is late, so the connection is not used again. Its socket stays open, unread,
  /// for send_on_abandoned().
  virtual void abandon(ConnectionNumber connection, TimePoint now) = 0;

  /// Writes `calls` behind the calls that abandoned connections still carry. If a frozen server wakes up, it
  /// carries out the old calls first, and then `calls` (undos or releases). No reply is awaited.
  virtual void send_on_abandoned(const std::vector<Call>& calls) = 0;

  /// The connection with this number; null: it is gone.
  virtual Connection* find(ConnectionNumber connection) = 0;

  /// Has a server of this node ever sent a well-formed reply?
  virtual bool contacted() const = 0;

  /// The server at the other end of this connection, for messages. Empty: str() names it.
  virtual std::string server_of(ConnectionNumber) { return {}; }

  /// Number of open connections that were lost; only grows.
  virtual std::uint64_t losses() const = 0;

  /// Subscribes to a channel, and again after each reconnection, until unwatch().
  virtual void watch(const Channel& channel) = 0;
  virtual void unwatch(const Channel& channel) = 0;

  /// Number of messages and confirmed (re-)subscriptions; only grows.
  virtual std::uint64_t wakeups() const = 0;

  /// The newest messages and confirmations since the last take.
  virtual std::vector<Message> take_messages() = 0;

  /// Why this node sends no messages: it refused SUBSCRIBE. Empty: it did not.
  virtual const std::optional<std::string>& subscribe_error() const = 0;

  /// The node's name in messages, without secrets.
  virtual std::string str() const = 0;
};

}  // namespace rlock
