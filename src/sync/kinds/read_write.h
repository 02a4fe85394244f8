#pragma once

#include "sync/kinds/lock_base.h"

namespace rlock {

/// RReadWriteLock: readers share it, a writer has it alone. What its two halves have in common.
///
/// A writer may read too and then give up writing (downgrade): its own read hold is a Hold::another. The
/// other way round is refused, since it would wait for itself.
class ReadWriteLock : public LockBase {
 public:
  /// Deletes the lock, no matter who holds it; if `owner` is not empty, only if that one reads or writes.
  static Call force(const LockName& name, const Owner& owner, PubSub pub_sub);

 protected:
  ReadWriteLock(const Claim& claim, Hold hold, const Form& half, Values own = {});

  Call release_call(const ReleaseOptions& options, Way way) const override;
};

class ReadLock final : public ReadWriteLock {
 public:
  explicit ReadLock(const Claim& claim, Hold hold = Hold::first);

 protected:
  Released decode_release(const Reply& reply) const override;
};

class WriteLock final : public ReadWriteLock {
 public:
  explicit WriteLock(const Claim& claim, Hold hold = Hold::first);

  Evidence evidence() const override {
    return {name().str(), owner().str() + ":write", own_line().waiting()};
  }
};

}  // namespace rlock
