// From what was typed to a Wish: for each key one Lockable of the wanted type, with an owner, and with the
// metadata that people see (who holds it, for what) as a follower of the acquire and of each renewal. Facts
// are written beside the lock and never in it: another client reads the lock, and nothing there may surprise
// it.
//
// A key that a process above us holds is joined as that owner's next hold (again). Its facts stay those of
// the outer hold, so such a part writes none. Its release erases them where it is the last: the outer hold may
// have ended before it.

#include "cmd/run/held_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "redis/slots.h"
#include "sync/kinds/once_per.h"

namespace rlock {
namespace {

bool lie_in_one_slot(const std::vector<std::string>& keys) {
  return std::ranges::all_of(keys, [&](const auto& key) { return slot_of(key) == slot_of(keys.front()); });
}

/// One script for all keys, which saves round trips, and then other clients never see some of them taken
/// without the rest. Nothing: it is a single key, they lie in several slots of a cluster, or they are of
/// different kinds.
std::optional<Together> together_of(const std::vector<Part>& parts, const Deployment& deployment) {
  if (parts.size() < 2) return std::nullopt;
  std::vector<const Lockable*> members;
  for (const Part& part : parts) members.push_back(part.lock.get());
  auto together = Together::of(members);
  if (together && deployment.is_cluster() && !lie_in_one_slot(together->ask().keys)) return std::nullopt;
  return together;
}

std::shared_ptr<const Lockable> make_lock(const HoldRequest& request, const LockName& name,
                                          const InheritedHold* outer, const Owner& owner, std::int64_t ticket,
                                          const Metadata& facts, bool again) {
  const bool waits = !request.wait.nonblock;
  const Wanted wanted{.claim = {.name = name,
                                .owner = outer != nullptr ? outer->owner : owner,
                                .lease = request.lease,
                                .pub_sub = request.deployment.pub_sub(),
                                .owner_returns = outer == nullptr && request.owner.has_value(),
                                .turn = request.deployment.turn(waits),
                                .ticket = outer == nullptr ? ticket : 0},
                      .again = outer != nullptr || again,
                      .waits = waits,
                      .backoff = request.backoff,
                      .permits = request.permits,
                      .count = request.count,
                      .fair_wait_timeout = request.fair_wait_timeout};
  std::shared_ptr<const Lockable> lock = request.type->make(wanted);
  if (!request.once_per) return lock;
  return std::make_shared<OncePer>(std::move(lock), fmt::format("{}@{}", facts.user, facts.host));
}

}  // namespace

HeldKeys::HeldKeys(const HoldRequest& request, Metadata facts, const Owner& owner, std::int64_t ticket,
                   const std::vector<InheritedHold>& above, bool again)
    : request_(request), owner_(owner), facts_(std::move(facts)) {
  if (request.type->kind->like != nullptr) facts_.type = request.type->name;
  for (const InheritedHold& hold : above) facts_.holds.push_back({hold.key, hold.owner});
  std::size_t joined = 0;
  for (const LockName& name : request.names) {
    const InheritedHold* outer = request.joins ? find_hold(above, name) : nullptr;
    Part& part = wish_.parts.emplace_back(
        Part{.lock = make_lock(request, name, outer, owner_, ticket, facts_, again)});
    const Lockable& lock = *part.lock;
    if (outer != nullptr) ++joined;  // the facts about an outer hold are written already
    if (outer == nullptr)
      part.followers = {write_metadata(name, lock.owner(), lock.evidence(), request.lease, facts_)};
    part.release_followers = {erase_metadata(name, lock.owner(), lock.evidence())};
  }
  wish_.together = together_of(wish_.parts, request.deployment);
  const Owner& first = wish_.parts.front().lock->owner();
  joins_ = joined > 0;
  joins_all_ = joined == wish_.parts.size() && std::ranges::all_of(wish_.parts, [&](const Part& part) {
                 return part.lock->owner() == first;
               });
  // RLOCK_OWNER names whoever holds the key: the outer hold.
  if (joins_all_) owner_ = first;
}

std::vector<InheritedHold> HeldKeys::holds() const {
  std::vector<InheritedHold> holds;
  for (const Part& part : wish_.parts)
    holds.push_back({std::string{request_.type->name}, part.lock->owner(), part.lock->name()});
  return holds;
}

void HeldKeys::take(Taken taken) {
  taken_ = std::move(taken);
  waited_ = elapsed(request_.started, Clock::now());
}

Keeper::Options HeldKeys::renewing() const {
  return {.lease = lease(),
          .parts = wish_.parts,
          .sync_replicas = static_cast<int>(request_.sync_replicas),
          .sync_timeout = request_.sync_timeout};
}

PastHold HeldKeys::past(HoldEnd end) const {
  PastHold past{.type = std::string{request_.type->name}, .facts = facts_, .waited = waited_};
  past.facts.since = taken_->held.front().server_time;
  past.ended = past.facts.since + elapsed(taken_->asked, Clock::now());
  past.end = std::move(end);
  return past;
}

std::vector<Part> HeldKeys::ending(const std::vector<Part>& parts, const PastHold& past) const {
  return request_.deployment.history ? with_history(parts, past) : parts;
}

std::vector<Part> HeldKeys::ending_kept(int exit, const PastHold& past) const {
  std::vector<Part> parts = ending(wish_.parts, past);
  Metadata last = facts_;
  last.kept_by = request_.once_per ? "--once-per" : "--min-hold";
  last.exit = exit;  // the key stays for --min-hold, with nobody behind it: inspect says how it ended
  for (Part& part : parts) {
    if (part.followers.empty()) continue;  // an outer hold: it goes on
    const Lockable& lock = *part.lock;
    // Where it turns out that the time is over already, the key is free: then nothing stays beside it.
    part.release_followers.insert(
        part.release_followers.begin(),
        write_metadata(lock.name(), lock.owner(), lock.evidence(), request_.kept_for(), last));
  }
  return parts;
}

}  // namespace rlock
