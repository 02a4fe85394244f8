#pragma once

#include "sync/keys.h"
#include "sync/lock.h"

namespace rlock {

/// Redisson's RFairLock: the lock, and a queue in which everybody who waits has a place.
///
/// Whoever lives takes the lock in the order of asking, rlock and Redisson alike. Who waits says with each
/// question that it lives; one of ours that has said nothing for two renewal intervals is dead, and loses its
/// place. (A dead waiter of Redisson's keeps its place for as long as Redisson says, 5 minutes as a rule.)
/// Each waiter listens to a channel of its own, and a release wakes the head of the queue alone; so what a
/// hand-over costs does not grow with the queue.
class FairLock final : public Lock {
 public:
  /// What who does not get the lock does. A try that does not wait leaves nothing behind.
  enum class Turn { queue, leave };

  explicit FairLock(Claim claim, Turn turn = Turn::queue, Hold hold = Hold::first)
      : Lock(std::move(claim), hold), turn_(turn) {}

  Call ask() const override;
  std::optional<Call> undo(Wake wake) const override;

  bool queues() const override { return turn_ == Turn::queue && hold() == Hold::first; }
  std::vector<Channel> channels() const override;
  Milliseconds poll_every() const override;

 protected:
  Attempt decode(const Reply& reply) const override;
  std::string announcement() const override;
  std::vector<std::string> queue_keys() const override { return fair_queue_keys(name()); }
  Call release_call(const ReleaseOptions& options, Way way) const override;

 private:
  Turn turn_;
};

}  // namespace rlock
