#pragma once

#include "sync/kinds/lock_base.h"

namespace rlock {

/// The token lock that redis-py, node-redlock, redsync and many a script share: `SET key token NX PX`, and
/// deleted by whoever has the token. The token is the owner. Nothing announces a release: waiters poll.
class PlainLock final : public LockBase {
 public:
  /// Hold::another is a hold inside that of the same token. It cannot be counted: it ends with the outer one.
  PlainLock(const Claim& claim, Pause pause, Hold hold = Hold::first);

  std::vector<Channel> channels() const override { return {}; }
  Pause pause() const override { return pause_; }
  Evidence evidence() const override { return {name().str(), owner().str()}; }

  /// Deletes the lock, no matter who holds it; if `token` is not empty, only if the lock holds it.
  static Call force(const LockName& name, const Owner& token);

 private:
  Pause pause_;
};

}  // namespace rlock
