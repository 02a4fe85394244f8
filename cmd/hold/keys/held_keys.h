#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "cmd/hold/request/hold_request.h"
#include "cmd/hold/request/inherited_hold.h"
#include "cmd/hold/request/inner_hold.h"
#include "sync/hold/keeper.h"
#include "sync/records/history.h"
#include "sync/records/metadata.h"
#include "sync/wait/acquire.h"
#include "sync/wait/acquire_request.h"

namespace rlock {

/// Who wants the keys of a HoldRequest.
struct Claimant {
  Owner owner;                         ///< of the keys that are not joined
  Metadata facts{};                    ///< our metadata
  std::vector<InheritedHold> above{};  ///< the holds that may be joined
  std::int64_t ticket = 0;             ///< see Claim
  std::set<LockName> not_yet_held{};   ///< with --again: the owner turned out not to hold these keys
};

/// The keys of a HoldRequest that a wait asks for, all or none.
///
/// If a process above us holds a key, we join that hold: we acquire the key once more, with the same owner. All
/// other keys get the owner of this request. REQUIRES: the request outlives it.
class WantedKeys {
 public:
  WantedKeys(const HoldRequest& request, const Claimant& claimant);
  WantedKeys(WantedKeys&& other) noexcept;  // its code is long, so it stands once
  ~WantedKeys() = default;

  const HoldRequest& request() const noexcept { return request_; }

  /// The parts to acquire and to renew. Each has our metadata as its follower.
  const std::vector<Part>& parts() const noexcept { return acquire_request_.parts; }

  /// The parts. If one script can acquire all of them, the request also has a call of that script. This needs several
  /// parts that are acquired in the same way and, in a Cluster, keys in one slot.
  const AcquireRequest& acquire_request() const noexcept { return acquire_request_; }

  bool joins() const noexcept { return joins_; }          ///< joins at least one hold of a process above us
  bool joins_all() const noexcept { return joins_all_; }  ///< joins one owner above us for all keys

  /// The owner of the keys that are not joined. If joins_all(), the owner of the joined holds.
  const Owner& owner() const noexcept { return owner_; }
  std::vector<InheritedHold> holds() const;

  /// Did the user name the owner, of these holds or of those around them? Then another process may acquire
  /// the keys with the same owner, after they are lost.
  bool owner_returns() const;

  /// The same for one of our parts.
  bool owner_returns(const Part& part) const;

  /// The id for the user: the owner, or the name of an InnerHold if we join a hold.
  Owner id() const { return joins_ ? name_of({owner_, inner_}) : owner_; }

  /// The time within which the key of a part expires if its release is not confirmed. `kept`: how long the
  /// release may keep the key. Empty: we joined a hold, and the lease of that hold counts.
  std::optional<Milliseconds> expires_within(const Part& part, Milliseconds kept = {}) const;

 protected:
  const Metadata& facts() const noexcept { return facts_; }

 private:
  std::shared_ptr<const Lockable> make_lock(const LockName& name, const InheritedHold* outer,
                                            const Claimant& claimant) const;

  const HoldRequest& request_;
  Owner owner_;
  RequestId inner_;  ///< the request of each key that is joined
  Metadata facts_;
  bool joins_ = false, joins_all_ = false;
  AcquireRequest acquire_request_;
};

/// The keys of a HoldRequest that are held.
class HeldKeys : public WantedKeys {
 public:
  /// `now`: when the answer came.
  HeldKeys(WantedKeys&& wanted, Acquired&& acquired, TimePoint now);
  HeldKeys(HeldKeys&& other) noexcept;
  ~HeldKeys() = default;

  const Acquired& acquired() const noexcept { return acquired_; }
  Milliseconds waited() const noexcept { return waited_; }
  Lease lease() const { return {.asked = acquired_.asked, .budget = request().budget}; }
  Keeper::Options renewing() const;

  /// The record of these holds for the history: they end `now`.
  PastHold past(HoldEnd end, TimePoint now) const;

  /// Our `parts` for a release that erases their metadata. If the user wants a history, the release also records
  /// `past` in that of each key. If other processes may share the hold, it records `past` only if the hold ends, and
  /// tells these processes.
  std::vector<Part> ending(const std::vector<Part>& parts, const PastHold& past) const;

  /// The same for all parts, if --min-hold or --once-per keeps the keys: the metadata says how the command
  /// ended.
  std::vector<Part> ending_kept(int exit, const PastHold& past) const;

 private:
  Acquired acquired_;
  Milliseconds waited_;
};

}  // namespace rlock
