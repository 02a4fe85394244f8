#pragma once

#include <optional>
#include <vector>

#include "sync/calls/answers.h"
#include "sync/calls/claim.h"
#include "sync/calls/kind.h"
#include "sync/calls/lockable.h"
#include "sync/calls/requests.h"

namespace rlock {

/// The common base of all locks: they make the same calls, with scripts of their own.
///
/// An immutable value. One lock object is one hold: it is acquired, renewed and released, each as often as
/// needed.
class LockBase : public Lockable {
 public:
  /// The differences between the kinds.
  struct Form {
    const Kind* wanted;  ///< the kind that refusals name
    const Script* acquire;
    const Script* acquire_inner;  ///< acquires one more hold; null: `acquire` does
    const Script* renew;
    const Script* release;
    /// Does the lock count inner holds? If not, they are noted beside it, see inner_holds_key().
    bool counts = true;
  };

  std::optional<Call> undo(Wake wake) const override;
  Call renew() const override;
  Call still_ours(Milliseconds rest) const override;
  Call release(const ReleaseOptions& options) const override;

  const LockName& name() const override { return claim_.name; }
  const Owner& owner() const override { return claim_.owner; }
  std::vector<Channel> channels() const override { return {line_.releases()}; }
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }
  bool takes_place() const override { return line_.takes_place() && hold_ == Hold::first; }
  HoldEntry hold_entry() const override { return {claim_.name.str(), claim_.owner.str(), line_.waiting()}; }

 protected:
  /// The ask() of a Hold::inner fails with Refused{absent} if the owner does not hold the lock any more. `own`: values
  /// that only the scripts of this kind take.
  LockBase(const Claim& claim, Hold hold, const Form& form, Channel releases, Values own = {});

  /// The claim without a place among the waiters, for kinds whose waiters poll.
  static Claim without_place(Claim claim);

  Call encode(Milliseconds waited) const override;
  AcquireAnswer decode(const Reply& reply) const override;
  Released decode_release(const Reply& reply) const override;

  /// The call that acquires this hold.
  virtual Call acquire(Milliseconds waited) const;
  virtual Call release_call(const ReleaseOptions& options, Way way) const;
  Call release_by(const Script& script, const ReleaseOptions& options, Way way,
                  const Values& more = {}) const;

  const Claim& claim() const noexcept { return claim_; }
  Hold hold() const noexcept { return hold_; }
  const Line& own_line() const noexcept { return line_; }

 private:
  Values values() const;
  Values inner_holds() const;
  Values shares() const;
  Call call_for_nodes(const Script& script, Values all) const;

  Claim claim_;
  Hold hold_;
  const Form* form_;
  RequestKeys requests_;
  Line line_;
  Values own_;
};

}  // namespace rlock
