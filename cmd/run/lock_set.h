#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cmd/run/inherited_hold.h"
#include "cmd/run/run_options.h"
#include "sync/acquire.h"
#include "sync/history.h"
#include "sync/metadata.h"
#include "sync/wish.h"

namespace rlock {

/// One script for all keys, which saves round trips, and then other clients never see some of them taken
/// without the rest. Nothing: it is a single key, they lie in several slots of a cluster, or they are of
/// different kinds.
std::optional<Together> together_of(const std::vector<Part>& parts, const Deployment& deployment);

/// The locks of one run, made from what was typed: one for each key, all taken or none.
///
/// A key that a process above us holds is entered once more,
/// as its owner; every other one gets an owner of this run.
class LockSet {
 public:
  /// `owner`: of this run; no other run may have it. `above`: the holds
  /// that may be entered; none: every key is taken for the first time.
  LockSet(const RunOptions& options, const Owner& owner, const std::vector<InheritedHold>& above);

  /// To acquire and to renew: each with what people want to know about us as its follower.
  const std::vector<Part>& parts() const noexcept { return wish_.parts; }

  /// All of them at once where one script can take them: not a single key, nor keys in several slots of a
  /// cluster, nor holds of different kinds.
  const Wish& wish() const noexcept { return wish_; }

  /// To release: the facts are erased or, where --min-hold keeps the key, say how the command ended; the
  /// history of each key gets `past`.
  std::vector<Part> to_release(bool kept, int exit, const PastHold& past) const;

  /// These holds as they end now.
  PastHold past(const Taken& taken, Milliseconds waited, HoldEnd end) const;

  bool enters() const noexcept { return enters_; }  ///< at least one hold of a process above us

  /// Of this run: of the keys that it did not enter, if there are any.
  const Owner& owner() const noexcept { return owner_; }
  std::vector<InheritedHold> holds() const;

 private:
  const RunOptions& options_;
  Owner owner_;
  Metadata facts_;
  bool enters_ = false;
  Wish wish_;
};

}  // namespace rlock
