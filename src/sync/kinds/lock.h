#pragma once

#include "sync/kinds/lock_base.h"

namespace rlock {

/// Redisson's RLock: a hash owner -> holds. Its TTL is the lease, and a release is announced.
class Lock : public LockBase {
 public:
  explicit Lock(const Claim& claim, Hold hold = Hold::first);

  /// For a client that knows only the owner's name (`rlock lock release`): releases one hold, first or inner.
  /// It also wakes the head of a fair queue.
  Call release_any() const;

  /// Deletes the lock of any holder. If `owner` is not empty, only if that owner holds it.
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
