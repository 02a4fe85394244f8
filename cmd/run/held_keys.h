#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cmd/run/hold_request.h"
#include "cmd/run/inherited_hold.h"
#include "sync/hold/keeper.h"
#include "sync/wait/acquire.h"
#include "sync/wait/wish.h"
#include "sync/watch/history.h"
#include "sync/watch/metadata.h"

namespace rlock {

/// The keys of a HoldRequest. Before take() they are wanted, all or none; after it they are held.
///
/// A key that a process above us holds is joined: it is taken once more as its owner's next hold. Every other
/// key gets the owner of this request. REQUIRES: the request outlives it.
class HeldKeys {
 public:
  /// `facts`: what people see of us. `owner`: of this request; nobody else may have it. `ticket`: see Claim.
  /// `above`: the holds that may be joined. `again`: the other keys are those of an owner who has them already.
  HeldKeys(const HoldRequest& request, Metadata facts, const Owner& owner, std::int64_t ticket,
           const std::vector<InheritedHold>& above, bool again);

  /// To acquire and to renew: each with what people want to know about us as its follower.
  const std::vector<Part>& parts() const noexcept { return wish_.parts; }

  /// All of them at once where one script can take them: not a single key, nor keys in several slots of a
  /// cluster, nor holds of different kinds.
  const Wish& wish() const noexcept { return wish_; }

  bool joins() const noexcept { return joins_; }          ///< at least one hold of a process above us
  bool joins_all() const noexcept { return joins_all_; }  ///< one owner above us holds all of them

  /// Of the keys that are not joined; where all of them are, the owner that is joined.
  const Owner& owner() const noexcept { return owner_; }
  std::vector<InheritedHold> holds() const;

  /// They are ours.
  void take(Taken taken);
  const Taken& taken() const { return *taken_; }  ///< REQUIRES: take(), as all below
  Milliseconds waited() const noexcept { return waited_; }
  Lease lease() const { return {.asked = taken_->asked, .budget = request_.budget}; }
  Keeper::Options renewing() const;

  /// These holds as they end now.
  PastHold past(HoldEnd end) const;

  /// `parts` (of ours) to release: their facts are erased, and the history of each key gets `past`.
  std::vector<Part> ending(const std::vector<Part>& parts, const PastHold& past) const;

  /// The same of all parts, where --min-hold or --once-per keeps the keys: their facts say how the command
  /// ended.
  std::vector<Part> ending_kept(int exit, const PastHold& past) const;

 private:
  const HoldRequest& request_;
  Owner owner_;
  Metadata facts_;
  bool joins_ = false, joins_all_ = false;
  Wish wish_;
  std::optional<Taken> taken_;
  Milliseconds waited_{0};
};

}  // namespace rlock
