#include "cmd/verbs/forced_removal.h"

#include <algorithm>
#include <iterator>

#include "base/identity.h"
#include "base/text.h"
#include "cmd/view/history_text.h"
#include "sync/kinds/keys.h"
#include "sync/kinds/pool.h"
#include "sync/watch/holder_messages.h"
#include "sync/watch/kind_actions.h"
#include "sync/watch/metadata.h"

namespace rlock {

bool is_pool(const Inspection& found) { return found.kind == &kinds::permit; }

bool is_meant(const Holder& holder, const std::optional<Owner>& named) {
  if (!named || holder.owner == *named) return true;
  return !holder.permit.empty() && to_hex(holder.permit) == named->str();
}

PastHold ForcedRemoval::past(const Holder& holder) const {
  return past_of(what_.found, holder, elapsed(what_.looked, session_.loop.now()),
                 {.outcome = "removed", .why = by_whom(user_at_host(), what_.reason)});
}

/// The calls behind a removal: they tell the holder, erase its metadata, and record the removal in the history.
std::vector<Call> ForcedRemoval::followers(const Holder& holder) const {
  const LockName& name = what_.found.name;
  const HoldEntry entry{is_pool(what_.found) ? permit_slots_key(name) : name.str(), holder.owner.str()};
  const Call notice = tell_holder(name, holder.owner, removal_notice(user_at_host(), what_.reason));
  if (!holder.meta || !session_.deployment.history)
    return {notice, erase_metadata(name, holder.owner, entry)};
  return {write_end(name, holder.owner, entry, past(holder), WriteEnd::if_it_ended), notice};
}

Forced ForcedRemoval::remove(const Owner& owner) const {
  const Inspection& found = what_.found;
  if (is_pool(found)) return remove_permits();
  // If it is no lock, the script for locks refuses it.
  const bool is_lock = actions_of(*found.kind).force != nullptr;
  const Kind& kind = is_lock ? *found.kind : kinds::lock;
  const Call call = actions_of(kind).force(found.name, owner, session_.deployment.pub_sub());
  Delivery delivery = with_retries();
  // If it is refused below, there is no removal to report.
  for (const Holder& holder : is_lock ? found.holders : std::vector<Holder>{})
    if (owner.empty() || holder.owner == owner)
      std::ranges::move(followers(holder), std::back_inserter(delivery.followers));
  // If one of several servers removed it, the result is "removed". If none did, the first
  // answer that is not "nothing there" counts.
  Forced forced{.how = Forced::How::nothing_there};
  for (const Reply& reply : session_.ask_all(call, delivery)) {
    Forced one = decode_forced(found.name, kind.plainest().noun, reply);
    const bool better = forced.how == Forced::How::nothing_there || one.how == Forced::How::removed;
    if (better) forced = std::move(one);
  }
  return forced;
}

Forced ForcedRemoval::remove_permits() const {
  std::vector<std::string> ids;
  Delivery delivery = with_retries();
  for (const Holder& holder : what_.found.holders) {
    if (!is_meant(holder, what_.named)) continue;
    ids.push_back(holder.permit);
    std::ranges::move(followers(holder), std::back_inserter(delivery.followers));
  }
  const Pool pool{what_.found.name, PoolKind::permits, session_.deployment.pub_sub()};
  const Pool::ReleasedIds released = pool.read_release(session_.ask(pool.release(ids), delivery));
  const bool any = std::ranges::count(released.taken, true) > 0;
  return {.how = any ? Forced::How::removed : Forced::How::nothing_there,
          .unannounced = released.unannounced};
}

void ForcedRemoval::write_history(const Owner& owner) const {
  if (!session_.deployment.history) return;
  const LockName& name = what_.found.name;
  for (const Holder& holder : what_.found.holders) {
    if (holder.meta || !is_meant(holder, what_.named) || (!owner.empty() && holder.owner != owner)) continue;
    static_cast<void>(session_.any_answers(
        write_end(name, holder.owner, {name.str(), holder.owner.str()}, past(holder), WriteEnd::always)));
  }
}

}  // namespace rlock
