#pragma once

#include "sync/kinds/lock.h"

namespace rlock {

/// Redisson's RFairLock: the lock, and a queue in which every waiter has a place.
///
/// Living waiters take the lock in the order in which they asked first, rlock and Redisson alike. With each
/// call a waiter shows that it lives; one of ours that has not asked for two renewal intervals, or for the wait timeout if
/// that is shorter, is dead, and loses its place. (A dead waiter of Redisson's keeps its place for as long as Redisson says, usually 5
/// minutes.) Each waiter listens to a channel of its own, and a release wakes only the head of the queue; so
/// the cost of a hand-over does not grow with the queue. Of rlock's waiters the new head is told that it is the first, and for how
/// long the holder may keep the lock: if that one dies, the head asks when the lease ends.
class FairLock final : public Lock {
 public:
  using Turn = rlock::Turn;

  /// `wait_timeout`: Redisson's fairLockWaitTimeout, where it is not the default of 5 minutes. So much each of its waiters
  /// adds to the deadlines behind it, and takes off again; and none of ours keeps its place for longer without a word.
  explicit FairLock(const Claim& claim, Turn turn = Turn::queue, Hold hold = Hold::first,
                    std::optional<Milliseconds> wait_timeout = std::nullopt);

  bool queues() const override { return turn_ == Turn::queue && hold() == Hold::first; }
  std::vector<Channel> channels() const override;
  const Line* line(const Busy&) const override { return nullptr; }
  Line::Heard hear(const Message& message, const Busy& busy) const override;
  Evidence evidence() const override;
  Milliseconds poll_every() const override;

 protected:
  Attempt decode(const Reply& reply) const override;
  Call release_call(const ReleaseOptions& options, Way way) const override;

 private:
  Turn turn_;
  Milliseconds interval_;  ///< between two calls that show that we live
};

}  // namespace rlock
