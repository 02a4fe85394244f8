#pragma once

#include "sync/kinds/answers.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/kind.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/requests.h"

namespace rlock {

/// What the locks of all kinds have in common: they make the same calls, by scripts of their own.
///
/// A value: what it asks and how it understands the answers never changes. One lock is one hold: it is asked
/// for, renewed and released, each as often as needed.
class LockBase : public Lockable {
 public:
  using Hold = rlock::Hold;

  /// What tells one kind from another.
  struct Form {
    const Kind* wanted;  ///< in refusals
    const Script* acquire;
    const Script* enter;  ///< takes one more hold; null: `acquire` does
    const Script* renew;
    const Script* release;
    bool counts =
        true;  ///< a hold inside another is counted; else it only needs the lease, and ends with the outer one
  };

  /// Hold::another of an owner who does not have it (any more) is Refused{absent}.
  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  std::optional<Call> undo(Wake wake) const override;
  Call renew() const override;
  Call release(const ReleaseOptions& options) const override;

  const LockName& name() const override { return claim_.name; }
  const Owner& owner() const override { return claim_.owner; }
  std::vector<Channel> channels() const override { return {line_.releases()}; }
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }
  bool queues() const override { return line_.queues() && hold_ == Hold::first; }
  Evidence evidence() const override { return {claim_.name.str(), claim_.owner.str(), line_.waiting()}; }

 protected:
  /// `own`: the values of its scripts that no other kind has.
  LockBase(const Claim& claim, Hold hold, const Form& form, Channel releases, Values own = {});

  /// Of a kind whose waiters poll.
  static Claim without_place(Claim claim);

  Attempt decode(const Reply& reply) const override;
  Released decode_release(const Reply& reply) const override;

  /// Takes a first hold, or another one. Of one that is not counted: with this lease.
  virtual Call take(Milliseconds lease, Milliseconds waited) const;
  virtual Call release_call(const ReleaseOptions& options, Way way) const;
  Call release_by(const Script& script, const ReleaseOptions& options, Way way,
                  const Values& more = {}) const;

  const Claim& claim() const noexcept { return claim_; }
  Hold hold() const noexcept { return hold_; }
  const Line& own_line() const noexcept { return line_; }

 private:
  Values values() const;
  Call call_for_nodes(const Script& script, const Values& all) const;

  Claim claim_;
  Hold hold_;
  const Form* form_;
  HoldRequests requests_;
  Line line_;
  Values own_;
};

}  // namespace rlock
