#pragma once

#include "sync/calls/keys.h"
#include "sync/kinds/lock_base.h"

namespace rlock {

/// Redisson's RReadWriteLock: readers share the lock, a writer has it alone. This is the common base of its
/// two halves.
///
/// A writer may also acquire the lock for reading and then release the write hold (downgrade): this read hold is
/// a Hold::inner. The reverse is refused, because the reader would wait for itself.
class ReadWriteLock : public LockBase {
 public:
  /// Deletes the lock, whoever holds it. If `owner` is not empty, deletes it only if that owner reads or
  /// writes.
  static Call force(const LockName& name, const Owner& owner, PubSub pub_sub);

 protected:
  ReadWriteLock(const Claim& claim, Hold hold, const Form& half, Values own = {});
};

class ReadLock final : public ReadWriteLock {
 public:
  explicit ReadLock(const Claim& claim, Hold hold = Hold::first);
};

class WriteLock final : public ReadWriteLock {
 public:
  explicit WriteLock(const Claim& claim, Hold hold = Hold::first);

  HoldEntry hold_entry() const override {
    return {name().str(), owner().str() + std::string{kWriteSuffix}, own_line().waiting()};
  }
};

}  // namespace rlock
