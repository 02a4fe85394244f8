#pragma once

#include <vector>

#include "sync/kinds/lock_base.h"

namespace rlock {

/// The token lock of redis-py, node-redlock, redsync and many scripts: `SET key token NX PX`. The token is
/// the owner: a release deletes the key only if it still has this token. No release is announced, so waiters
/// poll.
class PlainLock final : public LockBase {
 public:
  /// Hold::inner is an inner hold with the same token: see inner_holds_key().
  PlainLock(const Claim& claim, Pause pause, Hold hold = Hold::first);

  std::vector<Channel> channels() const override { return {}; }
  Pause pause() const override { return pause_; }
  HoldEntry hold_entry() const override { return {name().str(), owner().str()}; }

  /// Deletes the lock, whoever holds it. If `token` is not empty, deletes it only if the key has this token.
  static Call force(const LockName& name, const Owner& token);

 private:
  Pause pause_;
};

}  // namespace rlock
