#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "redis/connection.h"

namespace rlock {

/// Which connection serves this key now. One Route is one deployment: a server, the primary that a Sentinel names,
/// or the nodes of a Cluster. Connects, re-connects with back-off and follows the deployment's changes by itself.
class Route : public Source {
 public:
  struct NotYet {};  ///< it is connecting or asking and will wake the loop
  using Choice = std::variant<Connection*, NotYet, Failure>;

  /// A connection that may be written to, *not yet*, or why the last attempt failed: the next attempt is already
  /// planned, and who persists asks again.
  virtual Choice connection_for(std::string_view key) = 0;

  /// When connection_for() is worth asking again after a failure.
  virtual TimePoint next_attempt() const = 0;

  /// What an error reply means for the call that got it.
  enum class Verdict {
    pass_on,  ///< it is the caller's answer
    again,    ///< ask again at once: the route has learned something
    asking,   ///< ask again at once where connection_for() now leads, with ASKING in front
    later,    ///< ask again after a pause: the server cannot answer now (LOADING, BUSY, ...)
  };
  virtual Verdict judge(std::uint64_t connection, const Reply& error, std::string_view key) = 0;

  /// Does this error say that the server is not what the URL names it? Then why, and the right URL.
  virtual std::optional<Failure> wrong_url(const Reply&) const { return std::nullopt; }

  /// The run ids of the servers that it is connected to, as far as they were asked for.
  virtual std::set<std::string> run_ids() const { return {}; }

  /// A call on this connection outlived its time: it must not be used again. Its socket stays open, unread, until farewell().
  virtual void condemn(std::uint64_t connection) = 0;

  /// Writes `call` behind whatever the condemned connections still carry, so that a frozen server that wakes up
  /// undoes what it then does. Nobody waits for an answer.
  virtual void farewell(const Call& call) = 0;

  /// The connection with this number, if it is alive.
  virtual Connection* find(std::uint64_t connection) = 0;

  /// Did a server of this deployment ever send a well-formed reply?
  virtual bool contacted() const = 0;

  /// Listens on a channel, again after each reconnection, until unwatch().
  virtual void watch(const Channel& channel) = 0;
  virtual void unwatch(const Channel& channel) = 0;

  /// How often there was a reason to ask again: messages plus confirmed (re-)subscriptions. Only grows.
  virtual std::uint64_t news() const = 0;

  /// Why this deployment will not announce anything: subscribing was refused. Nothing while it may.
  virtual const std::optional<std::string>& deaf() const = 0;

  /// What it is called in messages, without secrets.
  virtual std::string str() const = 0;
};

}  // namespace rlock
