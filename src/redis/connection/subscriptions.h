#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/connection/pipeline.h"
#include "redis/connection_number.h"
#include "redis/message.h"

namespace rlock {

/// The subscriptions on one server, as a state machine. It decides which channels to subscribe to, on which
/// connection and when, and what the pushes mean. Values go in and come out. It knows neither connections nor the
/// clock.
class Subscriptions {
 public:
  /// Wants a channel until remove(). Returns true if SUBSCRIBE must be sent now, on connection().
  [[nodiscard]] bool add(const Subscription& subscription);

  /// Returns true if UNSUBSCRIBE must be sent now, on connection().
  [[nodiscard]] bool remove(const Subscription& subscription);

  void clear() { wanted_.clear(); }
  bool empty() const noexcept { return wanted_.empty(); }

  /// When begin() should be called with a connection. kNever: it was called, no channel is wanted, or the
  /// server has refused.
  [[nodiscard]] TimePoint begin_at() const noexcept;

  /// From now on this connection gets the messages. Returns the subscriptions to send on it.
  [[nodiscard]] std::vector<Subscription> begin(ConnectionNumber connection);

  /// The number of the pub/sub connection, on which the subscriptions were sent.
  ConnectionNumber connection() const noexcept { return connection_; }

  /// The pub/sub connection is gone. begin() is due at once.
  void disconnected() noexcept { connection_ = ConnectionNumber::none; }

  /// Takes a push of the pub/sub connection. Returns true if the server has refused for the first time: see
  /// error().
  [[nodiscard]] bool accept(const Push& push, TimePoint now);

  /// Number of messages and confirmed (re-)subscriptions; only grows.
  std::uint64_t wakeups() const noexcept { return wakeups_; }

  /// The newest messages and confirmations since the last take, in order.
  std::vector<Message> take_messages() noexcept { return std::exchange(messages_, {}); }

  /// Why this server sends no messages: it refused SUBSCRIBE. It is not asked again.
  const std::optional<std::string>& error() const noexcept { return error_; }

  /// Has the server ended a sharded subscription because another node serves the slot? The subscription is not
  /// sent here again until it is added again.
  bool has_misplaced() const noexcept { return misplaced_; }
  [[nodiscard]] bool take_misplaced() noexcept { return std::exchange(misplaced_, false); }

 private:
  bool drop_if_sent_away(const Push& push);
  void note(const Push& push);

  std::set<Subscription> wanted_;
  ConnectionNumber connection_ = ConnectionNumber::none;
  TimePoint retry_at_ = TimePoint::min();
  std::optional<std::string> error_;
  std::uint64_t wakeups_ = 0;
  std::vector<Message> messages_;
  bool misplaced_ = false;
};

}  // namespace rlock
