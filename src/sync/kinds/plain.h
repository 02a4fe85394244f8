#pragma once

#include "sync/kinds/answers.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/requests.h"

namespace rlock {

/// The token lock that redis-py, node-redlock, redsync and many a script share: `SET key token NX PX`, and
/// deleted by whoever has the token. The token is the owner. Nothing announces a release: waiters poll.
class PlainLock final : public Lockable {
 public:
  /// Hold::another is a hold inside that of the same token. It cannot be counted: it ends with the outer one.
  PlainLock(Claim claim, Pause pause, Hold hold = Hold::first);

  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  std::optional<Call> undo(Wake wake) const override;
  std::vector<Channel> channels() const override { return {}; }
  Pause pause() const override { return pause_; }

  Call renew() const override;

  Call release(const ReleaseOptions& options) const override;

  /// Removes the lock, whoever holds it; only when `token` does, where one is given.
  static Call force(const LockName& name, const Owner& token);

  const LockName& name() const override { return claim_.name; }
  const Owner& owner() const override { return claim_.owner; }
  Evidence evidence() const override { return {claim_.name.str(), claim_.owner.str()}; }

 private:
  Attempt decode(const Reply& reply) const override;
  Released decode_release(const Reply& reply) const override;
  Call enter(Milliseconds lease) const;
  Call release_call(const ReleaseOptions& options, Way way) const;

  Claim claim_;
  Pause pause_;
  Hold hold_;
  HoldRequests requests_;
};

}  // namespace rlock
