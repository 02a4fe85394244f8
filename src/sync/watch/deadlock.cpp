#include "sync/watch/deadlock.h"

#include <algorithm>
#include <tuple>

#include "sync/calls/keys.h"

namespace rlock {
namespace {

/// The search looks at this many keys at most: circles are short, and each key costs a call.
constexpr std::size_t kMostKeys = 64;

/// A waiter for a pool gets any permit that is released. If the pool has several holders, one that is not in the
/// circle may release its permit.
bool any_of_several(const Inspection& seen) { return seen.is_pool() && seen.holders.size() != 1; }

}  // namespace

DeadlockSearch::DeadlockSearch(LockName wanted, Owner us, const std::vector<OuterHold>& holds)
    : wanted_(std::move(wanted)), us_(std::move(us)) {
  for (const OuterHold& hold : holds)
    if (known_.insert(hold.key).second) candidates_.push_back({hold, {}});
}

const LockName* DeadlockSearch::next() const {
  if (!circle_.empty() || candidates_.empty()) return nullptr;
  if (!wanted_seen_) return &wanted_;
  return at_ < std::min(candidates_.size(), kMostKeys) ? &candidates_[at_].hold.key : nullptr;
}

void DeadlockSearch::read(const Inspection& seen) {
  if (!wanted_seen_) return read_wanted(seen);
  const Candidate candidate = candidates_[at_++];  // a copy, because the list grows
  if (seen.held_by(candidate.hold.owner) && !any_of_several(seen)) read_candidate(candidate, seen);
}

void DeadlockSearch::read_wanted(const Inspection& seen) {
  wanted_seen_ = true;
  const auto ours = std::ranges::find(seen.waiters, us_, &Waiter::owner);
  if (ours == seen.waiters.end() || any_of_several(seen)) return candidates_.clear();
  since_ = ours->since.value_or(seen.now);
  for (const Holder& holder : seen.holders) holders_.insert(holder.owner);
}

void DeadlockSearch::read_candidate(const Candidate& candidate, const Inspection& seen) {
  for (const Waiter& waiter : seen.waiters) {
    if (!waiter.facts || !waiter.since || waiter.owner == us_) continue;
    std::vector<DeadlockMember> path = candidate.path;
    path.push_back({waiter.owner, candidate.hold.key, *waiter.since, waiter.facts,
                    own_channel(seen.channel(), waiter.owner)});
    for (const OuterHold& hold : waiter.facts->holds) {
      if (hold.key == wanted_ && holders_.contains(hold.owner)) {
        circle_ = {{.owner = us_, .waits_for = wanted_, .since = since_, .facts = {}}};
        circle_.insert(circle_.end(), path.rbegin(), path.rend());
        return;
      }
      if (known_.insert(hold.key).second) candidates_.push_back({hold, path});
    }
  }
}

const DeadlockMember& youngest(const std::vector<DeadlockMember>& circle) {
  return *std::ranges::max_element(
      circle, {}, [](const DeadlockMember& member) { return std::tuple{member.since, member.owner.str()}; });
}

}  // namespace rlock
