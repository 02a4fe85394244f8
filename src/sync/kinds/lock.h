#pragma once

#include "sync/kinds/answers.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/requests.h"

namespace rlock {

/// Redisson's RLock: a hash owner -> holds, whose TTL is the lease and whose end is announced.
///
/// A value: what it asks and how it understands the answers never changes. One Lock is one hold: it is asked
/// for, renewed and released, each as often as needed.
class Lock : public Lockable {
 public:
  using Hold = rlock::Hold;

  explicit Lock(Claim claim, Hold hold = Hold::first);

  /// Hold::another of an owner who does not have it (any more) is Refused{absent}.
  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  std::optional<Call> undo(Wake wake) const override;

  Call renew() const override;

  Call release(const ReleaseOptions& options) const override;

  /// For whoever has nothing but the owner's name (`rlock lock release`): gives back the first or another
  /// hold, whichever it is, and wakes the head of a fair queue too.
  Call release_any() const;

  /// Removes the lock, whoever holds it; only when `owner` does, where one is given.
  static Call force(const LockName& name, const Owner& owner, PubSub pub_sub);

  const LockName& name() const override { return claim_.name; }
  const Owner& owner() const override { return claim_.owner; }
  std::vector<Channel> channels() const override;
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }
  bool queues() const override { return line_.queues() && hold_ == Hold::first; }
  Evidence evidence() const override { return {claim_.name.str(), claim_.owner.str(), line_.waiting()}; }

 protected:
  Attempt decode(const Reply& reply) const override;
  Released decode_release(const Reply& reply) const override;

  const Claim& claim() const noexcept { return claim_; }
  Hold hold() const noexcept { return hold_; }
  const HoldRequests& requests() const noexcept { return requests_; }

  /// On which channel a release is announced; empty: on none.
  virtual std::string announcement() const { return channels().empty() ? "" : channels().front().str(); }

  /// The keys of a queue whose head a release wakes, if there is one.
  virtual std::vector<std::string> queue_keys() const { return {}; }

  virtual Call release_call(const ReleaseOptions& options, Way way) const;

 private:
  Claim claim_;
  Hold hold_;
  HoldRequests requests_;
  Line line_;
};

/// RSpinLock: the lock for servers without pub/sub. Nothing is announced; waiters poll, doubling their pause.
class SpinLock final : public Lock {
 public:
  SpinLock(Claim claim, Pause pause, Hold hold = Hold::first)
      : Lock(without_place(std::move(claim)), hold), pause_(pause) {}

  std::vector<Channel> channels() const override { return {}; }
  Pause pause() const override { return pause_; }

 private:
  static Claim without_place(Claim claim) {
    if (claim.turn == Turn::queue) claim.turn = Turn::leave;
    return claim;
  }

  Pause pause_;
};

}  // namespace rlock
