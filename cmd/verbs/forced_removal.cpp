#include "cmd/verbs/forced_removal.h"

#include <algorithm>
#include <iterator>

#include "base/identity.h"
#include "base/owner_id.h"
#include "base/text.h"
#include "cmd/verbs/found_lock.h"
#include "sync/calls/keys.h"
#include "sync/kinds/pool.h"
#include "sync/records/holder_messages.h"
#include "sync/records/metadata.h"
#include "sync/watch/kind_actions.h"

namespace rlock {

bool ForcedRemoval::removes(const Holder& holder) const {
  return is_meant(holder, named) && (owner.empty() || holder.owner == owner);
}

std::vector<Owner> ForcedRemoval::owners() const {
  std::vector<Owner> owners;
  for (const Holder& holder : found.holders)
    if (removes(holder)) owners.push_back(holder.owner);
  return owners;
}

PastHold ForcedRemoval::past(const Holder& holder) const {
  return past_of(found, holder, elapsed(looked, session.now()),
                 {.outcome = HoldOutcome::removed, .why = by_whom(user_at_host(), reason)});
}

/// The calls behind a removal: they tell the holder, erase its metadata, and record the removal in the history.
/// A holder that may be a client of Redisson gets no notice: it would take it for a damaged message.
std::vector<Call> ForcedRemoval::followers(const Holder& holder) const {
  const LockName& name = found.name;
  const HoldEntry entry{found.is_pool() ? permit_slots_key(name) : name.str(), holder.owner.str()};
  const Call notice = tell_holder(name, holder.owner, removal_notice(user_at_host(), reason));
  if (!holder.facts && !is_of_rlock(holder.owner)) return {erase_metadata(name, holder.owner, entry)};
  if (!holder.facts || !session.deployment.history)
    return {notice, erase_metadata(name, holder.owner, entry)};
  return {write_end(name, holder.owner, entry, past(holder), WriteEnd::if_it_ended), notice};
}

Forced ForcedRemoval::remove() const {
  if (found.is_pool()) return remove_permits();
  // If the key holds something else than a lock, the script for locks refuses to remove it.
  const bool is_lock = actions_of(*found.kind).force != nullptr;
  const Kind& kind = is_lock ? *found.kind : kinds::lock;
  const Call call = actions_of(kind).force(found.name, owner, session.deployment.pub_sub());
  Delivery delivery = with_retries();
  // If the script will refuse the removal, there is nothing to report.
  for (const Holder& holder : found.holders)
    if (is_lock && removes(holder))
      std::ranges::move(followers(holder), std::back_inserter(delivery.followers));
  // If one of several servers removed it, the result is "removed". If none did, the first
  // answer that is not "nothing there" counts.
  Forced forced{.how = Forced::How::nothing_there};
  for (const Vote& vote : session.ask_each(call, delivery)) {
    if (!vote.good_reply()) continue;
    Forced one = decode_forced(found.name, kind.plainest().noun, *vote.good_reply());
    // The hold was there when we looked. If a second copy does not find it, the first one has removed it.
    const bool gone = one.how == Forced::How::nothing_there || one.how == Forced::How::other_owner;
    if (gone && vote.attempts > 1) one = Forced{.how = Forced::How::removed};
    const bool better = forced.how == Forced::How::nothing_there || one.how == Forced::How::removed;
    if (better) forced = std::move(one);
  }
  session.redis.await_followers(session.patience());
  return forced;
}

Forced ForcedRemoval::remove_permits() const {
  std::vector<std::string> ids;
  Delivery delivery = with_retries();
  for (const Holder& holder : found.holders) {
    if (!removes(holder)) continue;
    ids.push_back(holder.permit);
    std::ranges::move(followers(holder), std::back_inserter(delivery.followers));
  }
  const Pool pool{found.name, PoolKind::permits, session.deployment.pub_sub()};
  const Pool::ReleasedIds released = pool.read_release(session.ask(pool.release(ids), delivery));
  session.redis.await_followers(session.patience());
  const bool any = std::ranges::count(released.taken, true) > 0;
  return {.how = any ? Forced::How::removed : Forced::How::nothing_there,
          .unannounced = released.unannounced};
}

void ForcedRemoval::write_history() const {
  if (!session.deployment.history) return;
  const LockName& name = found.name;
  for (const Holder& holder : found.holders)
    if (!holder.facts && removes(holder))
      static_cast<void>(session.try_each(
          write_end(name, holder.owner, {name.str(), holder.owner.str()}, past(holder), WriteEnd::always)));
}

}  // namespace rlock
