// ask()       A busy answer names a key. The watch inspects it only if its holder may be a process above us. Once a
//             server has answered, it asks about the same key and holder again only if a join has failed, or if the
//             holder blocks us for good.
// conclude()  Does a record say that the key is held as long as a process above us lives? If the rest of a pool is
//             large enough for us, the wait can succeed, so nothing follows.
// join        If we may join the hold, found() ends this wait, and the next wait joins. It is first: it may succeed.
// give up     Otherwise the wait ends kGivesUpAfter after its first busy answer, not at once: the holder may be about
//             to release the key. If the next busy answer names another key or holder, this end is dropped.

#include "cmd/hold/wait/ancestor_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ancestry.h"
#include "base/key_text.h"
#include "base/owner_id.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Does this record name a process above us, and is the key held as long as that process lives?
bool is_above(const Metadata& facts) { return facts.renews && !facts.ended_at && names_ancestor(facts); }

/// Of a pool: do the processes above us leave this many permits to us?
bool leaves_enough(const Inspection& key, std::int64_t wanted) {
  if (!key.is_pool()) return false;
  const auto others = std::ranges::count_if(
      key.holders, [](const Holder& one) { return !one.facts || !is_above(*one.facts); });
  return key.available.value_or(0) + others >= wanted;
}

}  // namespace

AncestorWatch::AncestorWatch(Redis& redis, const Options& options)
    : redis_(redis), options_(options), inquiry_(redis) {}

void AncestorWatch::note_waiting(const Waiting& waiting) {
  if (waiting.busy == nullptr) return;
  if (begun_ == kNever) begun_ = redis_.loop().now();
  ask(*waiting.busy);
}

AcquireOptions AncestorWatch::over(AcquireOptions options) {
  options.report = [this, report = std::move(options.report)](const Waiting& waiting) {
    report(waiting);
    note_waiting(waiting);
  };
  options.patience.interrupted = [this, interrupted = std::move(options.patience.interrupted)] {
    return interrupted() || ends_the_wait_;
  };
  return options;
}

void AncestorWatch::ask(const Busy& busy) {
  const Owner owner{busy.holder};
  if (busy.key == name_ && owner == holder_) return;
  name_ = busy.key;
  holder_ = owner;
  give_up_at_ = kNever;  // it was set for another holder or key
  inquiry_.drop();
  if (asked_.contains({name_, owner}) || !may_be_above(owner)) return;
  inquiry_.begin(name_, std::nullopt, options_.answer_within);
}

/// Could this owner be a process above us? An owner id of rlock names its process. An owner id of Redisson belongs to
/// no such process. An id that a user chose does not tell, so the answer is yes. A plain lock and a pool do not name
/// their owners.
bool AncestorWatch::may_be_above(const Owner& owner) const {
  if (owner.str().empty()) return options_.asks_always;
  if (const auto pid = process_in(owner)) return is_ancestor(*pid);
  return !has_redisson_form(owner);
}

void AncestorWatch::look_at(const Busy& busy) {
  ask(busy);
  redis_.loop().wait(redis_.loop().within(options_.answer_within), [this] { return !inquiry_.under_way(); });
}

InheritedHold AncestorWatch::take() { return *std::exchange(found_, std::nullopt); }

void AncestorWatch::cannot_join(const LockName& key) {
  not_joined_.insert(key);
  std::erase_if(asked_, [&](const auto& one) { return one.first == key; });
  name_ = {};
}

TimePoint AncestorWatch::wake_at() const {
  return ends_the_wait_ ? kNever : earliest(inquiry_.wake_at(), give_up_at_);
}

void AncestorWatch::ready(short, TimePoint now) {
  if (inquiry_.under_way()) {
    inquiry_.advance();
    if (!inquiry_.under_way()) conclude(now);
  }
  ends_the_wait_ = ends_the_wait_ || now >= give_up_at_;
}

void AncestorWatch::conclude(TimePoint now) {
  const std::vector<Inspection> seen = inquiry_.seen();
  if (seen.empty()) {
    name_ = {};  // no server has answered: we ask again when the key is busy next time
    return;
  }
  const Inspection key = agreed(seen, holder_);
  const auto holder = std::ranges::find_if(key.holders, [&](const Holder& one) {
    const bool asked_for = holder_.str().empty() || one.owner == holder_;
    return asked_for && one.facts && is_above(*one.facts);
  });
  const bool blocks = holder != key.holders.end() && !leaves_enough(key, options_.permits);
  const bool joins = blocks && options_.joins && !not_joined_.contains(name_);
  // If it blocks us, and the answers name another key meanwhile, we ask again: the end of the wait was for this key.
  if (!blocks || joins) asked_.insert({name_, holder_});
  if (!blocks) return;
  if (joins) {
    found_ = InheritedHold{std::string{options_.type}, holder->owner, name_};
    return;
  }
  text_ = fmt::format("deadlock: {} is held by process {} ({}), which waits for this command", quoted(name_),
                      holder->facts->pid, sanitized(holder->facts->command));
  give_up_at_ = earliest(give_up_at_, plus(begun_ == kNever ? now : begun_, kGivesUpAfter));
}

}  // namespace rlock
