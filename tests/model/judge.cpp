// The rules that must hold in every world, and when two worlds count as the same.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "numbers.h"
#include "sync/calls/keys.h"
#include "world.h"

namespace rlock::model {
namespace {

/// Like valid_for() of src/sync/hold/lease.cpp: a client relies on a lease for this long.
std::int64_t valid_for(std::int64_t lease) { return lease - std::max<std::int64_t>(lease / 100, 2); }

/// A lock may be free for this long while a client waits. Even if all messages are lost, the next waiter asks every
/// two seconds.
constexpr std::int64_t kFreeAtMost = 2500;
constexpr std::int64_t kMoreForFault = 1000;  ///< a client waits this long for a lost reply
constexpr std::int64_t kMoreForCrash = 2500;  ///< the waiter that was told may be dead

/// A waiting client of Redisson keeps its place this long: its wait timeout and one lease.
constexpr std::int64_t kPlaceOfClassic = 330000;

/// See lua/shared/line/may_take.
constexpr int kPassedAtMost = 10;

/// The place of `owner` in the line of a lock that is not fair.
std::optional<double> arrived_at(Store& store, const std::string& key, const std::string& owner) {
  const Reply score = store.call({"zscore", "redisson_unlock_latch:{" + key + "}:line", owner});
  return score.is_nil() ? std::nullopt : score_in(score.text());
}

bool is_waiting(Phase phase) { return phase == Phase::asking || phase == Phase::sleeping; }

}  // namespace

void World::blame(const std::string& what) {
  if (!wrong_) wrong_ = what;
}

bool World::sure(int who) const {
  return client(who).phase == Phase::holding && !client(who).robbed && now() < sure_until(who);
}

std::int64_t World::sure_until(int who) const {
  if (hold(who).ends() == Ends::by_release) return kEndless;
  return client(who).asked + valid_for(plan(who).lease);
}

void World::judge() {
  judge_exclusion();
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who)
    if (sure(who)) judge_backing(who);
  judge_ttls();
  if (setting_->clients.front().type == "fair" && !unmended_)
    for (const std::string& key : setting_->keys) judge_queue(key);
  for (const std::string& key : setting_->keys) judge_line(key);
  if (setting_->clients.front().type == "semaphore") judge_semaphore();
  if (setting_->clients.front().type == "down") judge_latch();
  judge_kept();
  judge_wait();
  if (at_rest()) judge_rest();
}

/// A client that is sure of its hold is alone, except for holders that may share it.
void World::judge_exclusion() {
  std::map<std::string, std::vector<int>> holders;
  std::int64_t permits_taken = 0;
  std::set<std::string> owners;  // an inner hold uses the permits of the outer one
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) {
    if (!sure(who)) continue;
    for (const Place& place : hold(who).places()) {
      const std::string key = plan(who).type == "permit" ? setting_->keys.front() : place.key;
      for (const int other : holders[key]) {
        const bool both_read = plan(who).type == "read" && plan(other).type == "read";
        const bool permits = plan(who).type == "permit" && permits_taken + plan(who).count <= kPool;
        if (plan(who).owner == plan(other).owner || both_read || permits) continue;
        blame(fmt::format("{} and {} hold '{}' at once", plan(other).name, plan(who).name, key));
      }
      holders[key].push_back(who);
      if (owners.insert(plan(who).owner).second) permits_taken += plan(who).count;
    }
  }
}

void World::remember_ttls() {
  for (const std::string& key : setting_->keys)
    ends_before_[key] = store_.now() + store_.call({"pttl", key}).integer();
}

/// While a client is sure of its hold, the server has that hold, and counts it.
void World::judge_backing(int who) {
  const std::string& name = plan(who).name;
  const std::int64_t rest = sure_until(who) - now();
  for (const Place& place : hold(who).places()) {
    const std::string type = store_.call({"type", place.key}).text();
    const std::int64_t ttl = store_.call({"pttl", place.key}).integer();
    if (type == "none") return blame(fmt::format("{} holds '{}', but it is gone", name, place.key));
    if (plan(who).type == "permit") {
      judge_permits(who, suffix_name(LockName{setting_->keys.front()}, "timeout"));
      continue;
    }
    const std::int64_t before = ends_before_[place.key] - store_.now();
    if (ttl >= 0 && ttl < rest && before >= rest)
      return blame(fmt::format("{} is sure of '{}' for {} ms more, but a call shortens that to {} ms", name,
                               place.key, rest, ttl));
    if (ttl >= 0 && ttl < rest)
      return blame(
          fmt::format("{} is sure of '{}' for {} ms more, but it ends in {} ms", name, place.key, rest, ttl));
    if (type == "string") {
      if (store_.call({"get", place.key}).text() != place.member)
        return blame(fmt::format("{} holds '{}', but another has it", name, place.key));
      continue;
    }
    const Reply count = store_.call({"hget", place.key, place.member});
    if (count.is_nil())
      return blame(fmt::format("{} holds '{}', but it is not written there", name, place.key));
    std::int64_t holds = 0;
    for (int other = 0; other < static_cast<int>(clients_.size()); ++other) {
      if (!sure(other)) continue;
      for (const Place& theirs : hold(other).places())
        if (theirs.key == place.key && theirs.member == place.member) ++holds;
    }
    if (count.integer() < holds)
      return blame(fmt::format("{} holds of '{}' are counted as {}", holds, place.key, count.integer()));
    if (plan(who).type != "read" || !hold(who).is_ours()) continue;
    const std::string timeout = suffix_name(LockName{place.key}, place.member) + ":rwlock_timeout:1";
    if (store_.call({"pttl", timeout}).integer() < rest)
      return blame(fmt::format("{} reads '{}', but others will not count it so long", name, place.key));
  }
}

/// The id of a permit does not show its owner, so permits are only counted. If n permits belong to clients that are
/// sure at least as long as this one, then n permits must last that long. An inner hold uses the outer one's permits.
void World::judge_permits(int who, const std::string& taken) {
  std::int64_t sure_so_long = 0;
  std::set<std::string> owners;
  for (int other = 0; other < static_cast<int>(clients_.size()); ++other)
    if (sure(other) && sure_until(other) >= sure_until(who) && owners.insert(plan(other).owner).second)
      sure_so_long += plan(other).count;
  const Reply last = store_.call({"zcount", taken, std::to_string(sure_until(who) + jumped_), "+inf"});
  if (last.integer() < sure_so_long)
    blame(fmt::format("clients are sure of {} permits until {} is, but {} last so long", sure_so_long,
                      plan(who).name, last.integer()));
}

/// A key that was released with --min-hold stays until that time, and then ends.
void World::judge_kept() {
  for (const auto& [key, until] : kept_until_)
    if (store_.now() < until && !held(key)) {
      blame(fmt::format("'{}' is kept, but it is gone", key));
    } else if (store_.now() < until && setting_->clients.front().once && !is_marked(key)) {
      blame(fmt::format("'{}' is kept, but it is not marked as done", key));
    }
}

/// Is the work marked as done, for clients that would do it again?
bool World::is_marked(const std::string& key) { return is_done(lua_->run(whether_done(key), store_)); }

/// Each permit is either available or taken.
void World::judge_semaphore() {
  std::int64_t taken = 0;
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) taken += sure(who) ? 1 : 0;
  const std::int64_t available = store_.call({"get", setting_->keys.front()}).integer();
  if (available < 0 || available + taken > kPool)
    blame(fmt::format("of {} permits {} are taken, and {} available", kPool, taken, available));
}

/// Each client counts the latch down once, and no waiter goes on before it is open.
void World::judge_latch() {
  std::int64_t downs = 0;
  bool gone_on = false;
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) {
    if (plan(who).type == "down") downs += client(who).phase != Phase::idle ? 1 : 0;
    if (plan(who).type == "latch") gone_on = gone_on || client(who).phase == Phase::done;
  }
  const Reply count = store_.call({"get", setting_->keys.front()});
  const std::int64_t left = count.is_nil() ? 0 : count.integer();
  if (kPool - left > downs)
    blame(fmt::format("{} have counted the latch down {} times", downs, kPool - left));
  if (gone_on && left > 0) blame(fmt::format("somebody goes on, but the latch is at {}", left));
}

/// Every key has a TTL. Only the queue of a fair lock may have none while it is used: Redisson sets none.
void World::judge_ttls() {
  for (const std::string& key : store_.keys()) {
    if (store_.has_ttl(key) || key.starts_with("redisson_lock_token:")) continue;
    if (!setting_->begins.empty() && key == setting_->keys.front()) continue;
    const bool permits = setting_->clients.front().type == "permit";
    if (permits && (key == setting_->keys.front() || key.ends_with("}:timeout"))) continue;
    const bool queue = key.starts_with("redisson_lock_queue:") || key.starts_with("redisson_lock_timeout:");
    if (queue && !at_rest()) continue;
    blame(fmt::format("'{}' has no TTL{}", key, queue ? ", and nobody uses it any more" : ""));
  }
}

/// The two parts of a fair lock's queue have the same members; otherwise Redisson blocks for ever.
void World::judge_queue(const std::string& key) {
  const LockName name{key};
  std::vector<std::string> line, deadlines;
  for (const Reply& one :
       store_.call({"lrange", prefix_name("redisson_lock_queue", name), "0", "-1"}).items())
    line.push_back(one.text());
  for (const Reply& one :
       store_.call({"zrange", prefix_name("redisson_lock_timeout", name), "0", "-1"}).items())
    deadlines.push_back(one.text());
  std::ranges::sort(line);
  std::ranges::sort(deadlines);
  if (line != deadlines) blame(fmt::format("queue and deadlines of '{}' disagree", key));
}

bool World::is_written(int who) const {
  for (const Place& place : hold(who).places())
    if (store_.call({"hexists", place.key, place.member}).integer() == 1) return true;
  return false;
}

/// With --newest, an older client must not acquire the lock after a newer one knows that it has arrived, not
/// even by a late call.
void World::judge_newest(int who, const Call& call, const Reply& reply, bool had_it) {
  const std::string_view script = call.script->name;
  const bool asks = script == "newest/arrive" || script.ends_with("/acquire");
  if (!asks || reply.is_error() || reply.at(0).text() != "held") return;
  if (script == "newest/arrive") newest_drawn_ = std::max(newest_drawn_, reply.at(2).integer());
  if (script == "newest/arrive" || had_it) return;
  if (integer_in(call.args.back()).value_or(0) < newest_told_)
    blame(fmt::format("{} takes the lock, though a newer one has come", plan(who).name));
}

/// In the line beside a lock that is not fair, a client that has waited longer stands ahead. The exception is a client
/// with --newest, which takes over the place of an earlier one.
void World::judge_line(const std::string& key) {
  std::vector<std::pair<double, int>> line;
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) {
    if (!is_waiting(client(who).phase) || !client(who).busy || !client(who).busy->position) continue;
    if (const auto arrived = arrived_at(store_, key, plan(who).owner)) line.emplace_back(*arrived, who);
  }
  for (const auto& [arrived, who] : line)
    for (const auto& [other_arrived, other] : line)
      if (!plan(other).newest && !client(who).late_asks && client(who).begun < client(other).begun &&
          arrived > other_arrived)
        blame(fmt::format("{} waits longer than {}, and stands behind it", plan(who).name, plan(other).name));
}

bool World::held(const std::string& key) const {
  const std::string& type = setting_->clients.front().type;
  if (type != "permit" && type != "semaphore") return store_.call({"exists", key}).integer() == 1;
  const Reply free = store_.call({"get", key});
  std::int64_t least = kPool;  // the smallest number of permits that a client waits for
  for (std::size_t who = 0; who < clients_.size(); ++who)
    if (is_waiting(clients_[who].phase)) least = std::min(least, setting_->clients[who].count);
  return !free.is_nil() && free.integer() < least;
}

/// The extra time if only Redisson's clients wait. They ask when the TTL that they have seen ends. The
/// release of a reader lowers the TTL to that of the remaining readers, and announces nothing, in rlock as in
/// Redisson. The remaining readers may be dead, or come from a late copy of an acquire. In a fair queue, a
/// client of Redisson 3.17.7 asks when the place before its own ends. A client that gives up tells no other.
std::int64_t World::seen_by_redisson() const {
  std::int64_t longest = 0;
  for (std::size_t who = 0; who < clients_.size(); ++who) {
    const ClientPlan& one = setting_->clients[who];
    if (is_waiting(clients_[who].phase) && one.holds.front()->is_ours()) return 0;
    if (one.type == "read" && !is_faultless()) longest = std::max(longest, one.lease);
    if (one.classic) longest = kPlaceOfClassic;
  }
  return longest;
}

bool World::is_faultless() const {
  return faults_ == setting_->faults && crashes_ == setting_->crashes && jumped_ == 0 &&
         losses_ == setting_->losses && failovers_ == setting_->failovers;
}

/// A lock is not free for long while a client waits.
void World::judge_wait() {
  const bool waited = std::ranges::any_of(clients_, [](const Client& one) { return is_waiting(one.phase); });
  const bool is_held = std::ranges::any_of(setting_->keys, [&](const std::string& key) { return held(key); });
  if (!waited || is_held) {
    free_since_ = 0;
    return;
  }
  if (free_since_ == 0) free_since_ = now();
  const int failovers = setting_->failovers - failovers_;
  const int faults = setting_->faults - faults_, crashes = setting_->crashes - crashes_ + failovers;
  std::int64_t most = kFreeAtMost + kMoreForFault * faults + kMoreForCrash * crashes;
  most += seen_by_redisson();
  // A waiter behind the head of a fair queue asks once in a third of its lease. The head may have been killed
  // after it was told. A client of Redisson that acquires the lock, or gives up after it was told, tells no
  // other waiter. Places are lost with keys, or when the clock jumps ahead. Then the next waiter learns its
  // place when it shows that it lives.
  const bool fair = setting_->clients.front().type == "fair";
  const bool places_lost = jumped_ > 0 || losses_ < setting_->losses || failovers > 0;
  const bool beside_redisson = std::ranges::any_of(
      setting_->clients, [](const ClientPlan& one) { return !one.holds.front()->is_ours(); });
  if (fair && (waiter_died_ || places_lost || beside_redisson))
    most += std::ranges::max(setting_->clients, {}, &ClientPlan::lease).lease;
  if (now() - free_since_ > most) blame(fmt::format("somebody waits for what is free since {} ms", most));
}

/// At the end only the memory of requests and counters are left: no holds and no places.
void World::judge_rest() {
  const auto is_kept = [&](const auto& one) { return store_.now() <= one.second; };
  if (excused_ || std::ranges::any_of(kept_until_, is_kept)) return;
  for (const std::string& key : store_.keys()) {
    if (key.starts_with("redisson_lock_token:")) continue;
    const std::string& type = setting_->clients.front().type;
    if ((type == "permit" || type == "semaphore") && key == setting_->keys.front()) {
      if (const Reply free = store_.call({"get", key}); free.integer() != kPool)
        blame(fmt::format("all are done, and {} of {} permits are free", free.integer(), kPool));
      continue;
    }
    bool of_waiters = false;
    for (const std::string& name : setting_->keys)
      for (const std::string& one : keys_of_waiters(name)) of_waiters = of_waiters || one == key;
    // The ticket of the newest client is kept for a day.
    const bool newest =
        std::ranges::any_of(setting_->clients, [](const ClientPlan& one) { return one.newest; });
    if (newest && key.ends_with(":line:waiters")) continue;
    if (of_waiters || !key.starts_with("redisson_unlock_latch:"))
      blame(fmt::format("all are done, and '{}' is left", key));
  }
}

/// A fair lock goes to the client of rlock or Redisson that has stood in the queue the longest. In the line
/// of another lock, newcomers of rlock pass a waiter ten times at most.
void World::judge_order(int who) {
  if (plan(who).inside >= 0 || !is_faultless() || setting_->keys.size() > 1) return;
  const Client& taker = client(who);
  for (int other = 0; other < static_cast<int>(clients_.size()); ++other) {
    Client& waiter = client(other);
    if (other == who || !is_waiting(waiter.phase) || waiter.arrived == 0) continue;
    const bool later = taker.arrived == 0 || taker.arrived > waiter.arrived;
    if (!later) continue;
    // Redisson sets the deadline of a waiter to the moment at which it asks again. Then any client may drop it.
    if (!hold(other).is_ours() && waiter.due <= now()) continue;
    if (plan(who).type == "fair") {
      blame(fmt::format("{} gets the lock, though {} stands in the queue for longer", plan(who).name,
                        plan(other).name));
    } else if (setting_->counts_passes && hold(who).is_ours() && hold(other).is_ours() &&
               ++waiter.passed > kPassedAtMost) {
      blame(fmt::format("{} is passed {} times", plan(other).name, waiter.passed));
    }
  }
}

/// Of two holders, the later one has the larger fence.
void World::judge_fences(int who, const std::vector<std::int64_t>& fences) {
  const std::vector<Place> places = hold(who).places();
  for (std::size_t part = 0; part < fences.size(); ++part) {
    std::int64_t& last = last_fence_[places[part].key];
    if (fences[part] <= last)
      blame(fmt::format("{} gets the fence {} after {}", plan(who).name, fences[part], last));
    last = std::max(last, fences[part]);
  }
}

// --- when two worlds are the same ------------------------------------------------------------------

std::string World::describe() const {
  const std::int64_t now = this->now(), servers_now = store_.now();
  std::string text;
  store_.describe(text);
  const auto add_call = [&](const Call& call) {
    text += call.script->name;
    for (const std::string& word : call.keys) text += ' ' + word;
    for (const std::string& word : call.args) text += ' ' + without_clock(word, servers_now);
    text += '\n';
  };
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) {
    const Client& one = client(who);
    // The time of a wait or hold matters only if its calls or its lease depend on it.
    const bool has_lease = hold(who).ends() == Ends::with_lease;
    const bool waiting = is_waiting(one.phase) && has_lease;
    text += fmt::format(
        "{} {} {} {} {} {} {} {} {} {} {} {} {}\n", static_cast<int>(one.phase), one.hold,
        one.due == kEndless ? -1 : std::max<std::int64_t>(one.due - now, 0), waiting ? one.begun - now : 0,
        one.phase == Phase::holding && has_lease ? one.asked - now : 0,
        keep_until(who) == 0 ? 0 : std::max<std::int64_t>(keep_until(who) - servers_now, 0), one.renewals,
        one.tries, one.asked_once, one.late_asks, one.lost, one.woken, one.robbed);
    if (one.busy)
      text += fmt::format("{} {}\n", one.busy->position.value_or(0),
                          one.busy->retry_after ? one.busy->retry_after->count() : -1);
    if (plan(who).strict)
      text += fmt::format("{} {}\n",
                          one.written == 0             ? 0
                          : one.written <= replicated_ ? 1
                                                       : 2,
                          one.written == 0 ? 0 : one.renewed_at - now);
    const auto came_before = [&](const Client& other) {
      return other.arrived != 0 && other.arrived < one.arrived;
    };
    text += fmt::format("{} {}\n", one.arrived == 0 ? -1 : std::ranges::count_if(clients_, came_before),
                        one.passed);
    for (const auto& call : one.then) add_call(*call);
    if (plan(who).newest) text += fmt::format("{}\n", one.ticket == 0 ? 0 : one.ticket - servers_now * 1000);
  }
  for (const Abandoned& connection : abandoned_) {
    text += fmt::format("{} {}\n", connection.client, connection.breaks_at - now);
    for (const Late& late : connection.calls) add_call(*late.call);
  }
  if (replica_) {
    replica_->describe(text);
    text += fmt::format("{} ", replicated_ < writes_);
  }
  text += fmt::format("{} ", failovers_);
  text += fmt::format("{} {} {} {} {} {} {} {}", faults_, crashes_, losses_, jumped_, waiter_died_, unmended_,
                      excused_, free_since_ == 0 ? 0 : now - free_since_);
  for (const std::int64_t ticket : {newest_drawn_, newest_told_})
    text += fmt::format(" {}", ticket == 0 ? 0 : ticket - servers_now * 1000);
  for (const auto& [key, fence] : last_fence_) text += fmt::format(" {}", fence);
  for (const auto& [key, until] : kept_until_)
    text += fmt::format(" {}", std::max<std::int64_t>(until - servers_now, 0));
  return text;
}

}  // namespace rlock::model
