// Turns a HoldRequest into an AcquireRequest: one Lockable for each key, with its owner. The metadata for
// people (holder and purpose) is a follower of the acquire and of each renewal. It is written beside the lock
// and never into it, because other clients read the lock.
//
// If a process above us holds a key, we join it as that owner's next hold (again). The metadata of the outer hold
// stays as long as that hold. It may end first: then the next renewal of such a part writes ours, and its release
// erases the metadata if no other hold is left.

#include "cmd/hold/keys/held_keys.h"

#include <algorithm>
#include <utility>

#include "base/identity.h"
#include "base/owner_id.h"
#include "sync/kinds/once_per.h"
#include "sync/records/holder_messages.h"

namespace rlock {
namespace {

/// One script for all keys: it saves round trips, and other clients never see only some of them held. Empty: there is
/// one key, the keys lie in several slots of a Cluster, or no script acquires these parts together.
std::optional<Together> together_of(const std::vector<Part>& parts, const Deployment& deployment) {
  if (parts.size() < 2 || !deployment.lie_together(names_of(parts))) return std::nullopt;
  std::vector<const Lockable*> members;
  for (const Part& part : parts) members.push_back(part.lock.get());
  return Together::of(members);
}

}  // namespace

WantedKeys::WantedKeys(const HoldRequest& request, const Claimant& claimant)
    : request_(request),
      owner_(claimant.owner),
      inner_(claimant.above.empty() ? RequestId{} : new_inner_request()),
      facts_(claimant.facts) {
  if (request.type->kind->like != nullptr) facts_.type = request.type->name;
  for (const InheritedHold& hold : claimant.above) facts_.holds.push_back({hold.key, hold.owner});
  for (const LockName& name : request.names) {
    const InheritedHold* outer = request.joining.allowed ? find_hold(claimant.above, name) : nullptr;
    Part& part = acquire_request_.parts.emplace_back(
        Part{.lock = make_lock(name, outer, claimant), .joins = outer != nullptr});
    const Lockable& lock = *part.lock;
    part.followers = {write_metadata(name, lock.owner(), lock.hold_entry(), request.lease, facts_,
                                     part.joins ? Hold::inner : Hold::first)};
    part.release_followers = {erase_metadata(name, lock.owner(), lock.hold_entry())};
  }
  acquire_request_.together = together_of(parts(), request.deployment);
  const Owner& first = parts().front().lock->owner();
  joins_ = std::ranges::any_of(parts(), &Part::joins);
  joins_all_ = std::ranges::all_of(
      parts(), [&](const Part& part) { return part.joins && part.lock->owner() == first; });
  // RLOCK_OWNER must name the owner of the hold that we joined.
  if (joins_all_) owner_ = first;
}

WantedKeys::WantedKeys(WantedKeys&&) noexcept = default;

/// `outer`: the hold that this key joins; null: none.
std::shared_ptr<const Lockable> WantedKeys::make_lock(const LockName& name, const InheritedHold* outer,
                                                      const Claimant& claimant) const {
  const bool waits = !request_.wait.nonblock;
  const bool inner = outer != nullptr || (request_.again && !claimant.not_yet_held.contains(name));
  const LockSpec spec{.claim = {.name = name,
                                .owner = outer != nullptr ? outer->owner : claimant.owner,
                                .lease = request_.lease,
                                .pub_sub = request_.deployment.pub_sub(),
                                .owner_returns = request_.owner.has_value(),
                                .request = outer != nullptr ? inner_ : RequestId{},
                                .if_busy = request_.deployment.if_busy(waits),
                                .ticket = outer == nullptr ? claimant.ticket : 0},
                      .hold = inner ? Hold::inner : Hold::first,
                      .waits = waits,
                      .options = request_.type_options};
  std::shared_ptr<const Lockable> lock = request_.type->make(spec);
  if (!request_.once_per) return lock;
  return std::make_shared<OncePer>(std::move(lock), user_at_host());
}

std::vector<InheritedHold> WantedKeys::holds() const {
  std::vector<InheritedHold> holds;
  for (const Part& part : acquire_request_.parts)
    holds.push_back({std::string{request_.type->name}, part.lock->owner(), part.lock->name()});
  return holds;
}

bool WantedKeys::owner_returns() const {
  return std::ranges::any_of(acquire_request_.parts,
                             [this](const Part& part) { return owner_returns(part); });
}

bool WantedKeys::owner_returns(const Part& part) const {
  return request_.owner || !is_of_rlock(part.lock->owner());
}

std::optional<Milliseconds> WantedKeys::expires_within(const Part& part, Milliseconds kept) const {
  return part.joins ? std::nullopt : std::optional{std::max(request().lease, kept)};
}

HeldKeys::HeldKeys(WantedKeys&& wanted, Acquired&& acquired, TimePoint now)
    : WantedKeys(std::move(wanted)),
      acquired_(std::move(acquired)),
      waited_(elapsed(request().started, now)) {}

HeldKeys::HeldKeys(HeldKeys&&) noexcept = default;

Keeper::Options HeldKeys::renewing() const {
  return {.lease = lease(), .parts = parts(), .sync_replicas = request().sync_replicas};
}

PastHold HeldKeys::past(HoldEnd end, TimePoint now) const {
  PastHold past{.type = std::string{request().type->name}, .facts = facts(), .waited = waited_};
  past.facts.since = acquired_.held.front().server_time;
  past.ended = past.facts.since + elapsed(acquired_.asked, now);
  past.end = std::move(end);
  return past;
}

std::vector<Part> HeldKeys::ending(const std::vector<Part>& parts, const PastHold& past) const {
  const HoldOutcome how = past.end.outcome;
  // Other processes with the same owner may share the hold. After a loss no facts may be left to show it.
  const bool may_go_on = request().owner && how != HoldOutcome::lost && how != HoldOutcome::removed;
  const WriteEnd when = may_go_on ? WriteEnd::if_it_ended : WriteEnd::always;
  std::vector<Part> ending = request().deployment.history ? with_history(parts, past, when) : parts;
  if (!may_go_on) return ending;
  for (Part& part : ending)  // until the others renew, people would see the facts of a process that has ended
    part.release_followers.push_back(
        tell_holder(part.lock->name(), part.lock->owner(), std::string{kReleased}));
  return ending;
}

std::vector<Part> HeldKeys::ending_kept(int exit, const PastHold& past) const {
  std::vector<Part> kept = ending(parts(), past);
  Metadata last = facts();
  last.kept_by = request().once_per ? "--once-per" : "--min-hold";
  last.exit = exit;  // the key stays after the command: inspect shows how the command ended
  for (Part& part : kept) {
    if (part.joins) continue;  // the outer hold continues
    const Lockable& lock = *part.lock;
    // If the time to keep the key has passed already, the release frees the key, and this call writes nothing.
    part.release_followers.insert(
        part.release_followers.begin(),
        write_metadata(lock.name(), lock.owner(), lock.hold_entry(), request().kept_for(), last));
  }
  return kept;
}

}  // namespace rlock
