#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/message.h"
#include "redis/pipeline.h"

namespace rlock {

/// A channel as it is subscribed to: by SUBSCRIBE, or by SSUBSCRIBE where it is sharded.
struct Subscription {
  Channel channel;
  bool sharded = false;
  friend auto operator<=>(const Subscription&, const Subscription&) = default;
};

/// What one server is asked to announce, as a state machine: which channels are wanted, what to SUBSCRIBE to
/// on which connection and when, and what the pushes mean. Values go in and come out: it knows neither
/// connections nor the clock.
class Subscriptions {
 public:
  /// Wants a channel, until remove(). Returns whether to SUBSCRIBE now, on connection().
  [[nodiscard]] bool add(const Subscription& subscription);

  /// Returns whether to UNSUBSCRIBE now, on connection().
  [[nodiscard]] bool remove(const Subscription& subscription);

  void clear() { wanted_.clear(); }
  bool empty() const noexcept { return wanted_.empty(); }

  /// When a connection should be told what is wanted, see begin(); kNever: one
  /// has been told, nothing is wanted, or the server has refused.
  [[nodiscard]] TimePoint begin_at() const noexcept;

  /// This connection carries the messages from now on. Returns what to SUBSCRIBE to on it.
  [[nodiscard]] std::vector<Subscription> begin(std::uint64_t connection);

  /// The number of the pubsub connection: the one that was told what is wanted; 0: none.
  std::uint64_t connection() const noexcept { return connection_; }

  /// The pubsub connection has gone: the next one is told at once.
  void disconnected() noexcept { connection_ = 0; }

  /// What came on the pubsub connection. Returns whether the server has refused for the first time: see
  /// error().
  [[nodiscard]] bool accept(const Push& push, TimePoint now);

  /// How often there was a reason to ask again: messages plus confirmed (re-)subscriptions. Only grows.
  std::uint64_t wakeups() const noexcept { return wakeups_; }

  /// The newest of them since the last take, in order.
  std::vector<Message> take_messages() noexcept { return std::exchange(messages_, {}); }

  /// Why this server sends no messages: SUBSCRIBE was refused. It is not asked again.
  const std::optional<std::string>& error() const noexcept { return error_; }

  /// Was a sharded subscription sent away, because its slot is served
  /// elsewhere? It is not tried here again unless it is added again.
  bool has_misplaced() const noexcept { return misplaced_; }
  [[nodiscard]] bool take_misplaced() noexcept { return std::exchange(misplaced_, false); }

 private:
  bool sent_away(const Push& push);
  void note(const Push& push);

  std::set<Subscription> wanted_;
  std::uint64_t connection_ = 0;
  TimePoint retry_at_ = TimePoint::min();
  std::optional<std::string> error_;
  std::uint64_t wakeups_ = 0;
  std::vector<Message> messages_;
  bool misplaced_ = false;
};

}  // namespace rlock
