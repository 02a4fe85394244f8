#pragma once

#include <optional>
#include <vector>

#include "sync/kinds/lock.h"

namespace rlock {

/// Redisson's RFairLock: a lock with a queue in which every waiter has a place.
///
/// Living waiters of rlock and Redisson get the lock in the order of their first request. Each call of a
/// waiter shows that it lives. If a waiter of rlock has not asked for two renewal intervals, or for the wait
/// timeout if that is shorter, it loses its place. A dead waiter of Redisson keeps its place until its
/// deadline is over, usually for 5 minutes or more.
///
/// Each waiter listens to a channel of its own, and a release wakes the head of the queue, not all waiters.
/// So a hand-over takes no more messages in a long queue than in a short one. If a new head is a waiter of
/// rlock, the server tells it so, and for how long the holder may keep the lock. If the holder
/// dies, the head asks when the lease ends.
class FairLock final : public Lock {
 public:
  /// `if_busy`: whether to take a place in the queue, at several servers, too. (Claim::if_busy counts for a line only.)
  /// `wait_timeout`: Redisson's fairLockWaitTimeout if it differs from the default of 5 minutes. Each waiter
  /// of Redisson adds this time to the deadlines behind it, and subtracts it when it leaves. If a
  /// waiter of rlock does not ask, it loses its place after two thirds of its lease, or after a shorter
  /// `wait_timeout`.
  explicit FairLock(const Claim& claim, IfBusy if_busy = IfBusy::place, Hold hold = Hold::first,
                    std::optional<Milliseconds> wait_timeout = std::nullopt);

  bool takes_place() const override { return if_busy_ == IfBusy::place && hold() == Hold::first; }
  std::vector<Channel> channels() const override;
  const Line* line(const Busy&) const override { return nullptr; }
  Line::Notice read_notice(const Message& message, const Busy& busy) const override;
  HoldEntry hold_entry() const override;
  Milliseconds poll_every() const override;

 protected:
  AcquireAnswer decode(const Reply& reply) const override;
  Call release_call(const ReleaseOptions& options, Way way) const override;

 private:
  IfBusy if_busy_;
  Milliseconds interval_;  ///< the time between two calls that show that we live
};

}  // namespace rlock
