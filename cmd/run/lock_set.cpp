// From what was typed to a Wish: for each key one Lockable of the wanted type, with an owner, and with the
// metadata that people see (who holds it, for what) as a follower of the acquire and of each renewal. Facts
// are written beside the lock and never in it: another client reads the lock, and nothing there may surprise
// it.
//
// A key that a process above us holds is entered as that owner's next hold (again). Its facts stay those of
// the outer run, so such a part has no followers, and its release erases nothing.

#include "cmd/run/lock_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/run/command_name.h"
#include "redis/slots.h"
#include "sync/once_per.h"

namespace rlock {
namespace {

Metadata facts_about(const RunOptions& options) {
  Metadata facts = about_us(command_name(options.command));
  if (options.show_args) facts.command = command_line(options.command);
  if (!options.reason.empty()) facts.reason = options.reason;
  facts.labels = options.labels;
  facts.renews = options.renew;
  facts.kill_after = options.kill_after;
  for (const InheritedHold& hold : holds_above_us()) facts.holds.push_back({hold.key, hold.owner});
  return facts;
}

bool lie_in_one_slot(const std::vector<std::string>& keys) {
  return std::ranges::all_of(keys, [&](const auto& key) { return slot_of(key) == slot_of(keys.front()); });
}

}  // namespace

std::optional<Together> together_of(const std::vector<Part>& parts, const Deployment& deployment) {
  if (parts.size() < 2) return std::nullopt;
  std::vector<const Lockable*> members;
  for (const Part& part : parts) members.push_back(part.lock.get());
  auto together = Together::of(members);
  if (together && deployment.is_cluster() && !lie_in_one_slot(together->ask().keys)) return std::nullopt;
  return together;
}

LockSet::LockSet(const RunOptions& options, const Owner& owner, const std::vector<InheritedHold>& above)
    : options_(options), owner_(owner), facts_(facts_about(options)) {
  if (options.type->kind->like != nullptr) facts_.type = options.type->name;
  for (const LockName& name : options.names) {
    const InheritedHold* outer = find_hold(above, name);
    const Wanted wanted{.claim = {.name = name,
                                  .owner = outer != nullptr ? outer->owner : owner_,
                                  .lease = options.lease,
                                  .pub_sub = options.deployment.pub_sub(),
                                  .turn = options.deployment.turn(!options.wait.nonblock)},
                        .again = outer != nullptr,
                        .waits = !options.wait.nonblock,
                        .backoff = options.backoff,
                        .permits = options.permits,
                        .count = options.count};
    enters_ = enters_ || outer != nullptr;
    Part& part = wish_.parts.emplace_back(Part{.lock = options.type->make(wanted)});
    if (options.once_per)
      part.lock = std::make_shared<OncePer>(part.lock, fmt::format("{}@{}", facts_.user, facts_.host));
    const Lockable& lock = *part.lock;
    if (outer == nullptr) {  // the facts about an outer hold are written already
      part.followers = {write_metadata(name, lock.owner(), lock.evidence(), options.lease, facts_)};
      part.release_followers = {erase_metadata(name, lock.owner(), lock.evidence())};
    }
  }
  wish_.together = together_of(wish_.parts, options.deployment);
  // RLOCK_OWNER names whoever holds the key: the outer run.
  if (enters_ && wish_.parts.size() == 1) owner_ = wish_.parts.front().lock->owner();
}

PastHold LockSet::past(const Taken& taken, Milliseconds waited, HoldEnd end) const {
  PastHold past{.type = std::string{options_.type->name}, .facts = facts_, .waited = waited};
  past.facts.since = taken.held.front().server_time;
  past.ended = past.facts.since + elapsed(taken.asked, Clock::now());
  past.end = std::move(end);
  return past;
}

std::vector<Part> LockSet::to_release(bool kept, int exit, const PastHold& past) const {
  std::vector<Part> parts = options_.deployment.history ? with_history(wish_.parts, past) : wish_.parts;
  if (!kept) return parts;
  Metadata last = facts_;
  last.kept_by = options_.once_per ? "--once-per" : "--min-hold";
  last.exit = exit;  // the key stays for --min-hold, with nobody behind it: inspect says how it ended
  for (Part& part : parts) {
    if (part.release_followers.empty()) continue;  // an outer hold: it goes on
    const Lockable& lock = *part.lock;
    // Where it turns out that the time is over already, the key is free: then nothing stays beside it.
    part.release_followers.insert(
        part.release_followers.begin(),
        write_metadata(lock.name(), lock.owner(), lock.evidence(), options_.kept_for(), last));
  }
  return parts;
}

std::vector<InheritedHold> LockSet::holds() const {
  std::vector<InheritedHold> holds;
  for (const Part& part : wish_.parts)
    holds.push_back({std::string{options_.type->name}, part.lock->owner(), part.lock->name()});
  return holds;
}

}  // namespace rlock
