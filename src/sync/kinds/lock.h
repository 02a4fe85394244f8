#pragma once

#include <vector>

#include "sync/kinds/lock_base.h"

namespace rlock {

/// Redisson's RLock: a hash owner -> holds. Its TTL is the lease, and a release is announced.
class Lock : public LockBase {
 public:
  explicit Lock(const Claim& claim, Hold hold = Hold::first);

  /// For a client that does not know whether the lock is fair, nor whether the hold is an inner one (`rlock
  /// lock release`). Releases one hold, and wakes the head of a fair queue, too.
  Call release_any() const;

  /// Deletes the lock, whoever holds it. If `owner` is not empty, deletes it only if that owner holds it.
  static Call force(const LockName& name, const Owner& owner, PubSub pub_sub);

 protected:
  static const Form kForm;

  /// For kinds that are stored like a Lock.
  Lock(const Claim& claim, Hold hold, const Form& form, Values own);
};

/// Redisson's RSpinLock: the lock for servers without pub/sub. Nothing announces a release; waiters poll and
/// double their pause.
class SpinLock final : public Lock {
 public:
  SpinLock(const Claim& claim, Pause pause, Hold hold = Hold::first)
      : Lock(without_place(claim), hold), pause_(pause) {}

  std::vector<Channel> channels() const override { return {}; }
  Pause pause() const override { return pause_; }

 private:
  Pause pause_;
};

}  // namespace rlock
