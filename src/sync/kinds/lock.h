#pragma once

#include "sync/kinds/lock_base.h"

namespace rlock {

/// Redisson's RLock: a hash owner -> holds, whose TTL is the lease and whose end is announced.
class Lock : public LockBase {
 public:
  explicit Lock(const Claim& claim, Hold hold = Hold::first);

  /// For a client that knows only the owner's name (`rlock lock release`): releases one hold, the first or an inner
  /// one, and wakes up the head of a fair queue, too.
  Call release_any() const;

  /// Deletes the lock, no matter who holds it; if `owner` is not empty, only if that one does.
  static Call force(const LockName& name, const Owner& owner, PubSub pub_sub);

 protected:
  static const Form kForm;

  /// A kind that is stored as a Lock.
  Lock(const Claim& claim, Hold hold, const Form& form, Values own);
};

/// RSpinLock: the lock for servers without pub/sub. Nothing is announced; waiters poll, doubling their pause.
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
