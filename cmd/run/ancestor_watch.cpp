#include "cmd/run/ancestor_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ancestry.h"
#include "base/identity.h"
#include "base/key_text.h"
#include "base/random.h"
#include "base/text.h"

namespace rlock {
namespace {

/// For so long we wait for what will never come: its holder may be about to release it.
constexpr Milliseconds kGivesUpAfter{1000};

/// Is the process of this record above us, and is it kept for as long as that lives? Another host or another
/// process with the same number does not count.
bool is_above(const Metadata& facts) {
  if (!facts.renews || facts.ended_at || !facts.started || facts.host != host_name()) return false;
  const auto process = process_of(facts.pid);
  return process && process->started == *facts.started && is_ancestor(facts.pid);
}

}  // namespace

AncestorWatch::AncestorWatch(Redis& redis, const LockType& type, bool joins, Milliseconds answer_within)
    : redis_(redis), type_(type), joins_(joins), answer_within_(answer_within), inquiry_(redis) {
  redis_.loop().join(*this);
}

AncestorWatch::~AncestorWatch() { redis_.loop().leave(*this); }

void AncestorWatch::hear(const Waiting& waiting) {
  if (waiting.busy == nullptr || waiting.what == nullptr) return;
  if (begun_ == kNever) begun_ = redis_.loop().now();
  const std::string& member = waiting.busy->member;
  ask(member.empty() ? waiting.what->name() : LockName{member}, waiting.busy->holder);
}

void AncestorWatch::ask(const LockName& name, const std::string& holder) {
  const Owner owner{holder};
  if (name == name_ && owner == holder_) return;
  name_ = name;
  holder_ = owner;
  give_up_at_ = kNever;  // the holder that we cannot join has gone
  inquiry_.drop();
  if (asked_.contains({name, owner}) || !may_be_above(owner)) return;
  inquiry_.begin(name, std::nullopt, answer_within_);
}

/// Could this owner be a process above us? rlock's own owners name their process, those that a user has named
/// say nothing, and others are Redisson's. A plain lock does not say who has it: whoever waits for one polls, so
/// that one question more costs little.
bool AncestorWatch::may_be_above(const Owner& owner) const {
  if (owner.str().empty()) return type_.polls;
  if (const auto pid = process_in(owner)) return is_ancestor(*pid);
  return !has_redisson_form(owner);
}

void AncestorWatch::look_at(const LockName& name, const std::string& holder) {
  ask(name, holder);
  redis_.loop().wait(redis_.loop().within(answer_within_), [this] { return !inquiry_.under_way(); });
}

InheritedHold AncestorWatch::take() { return *std::exchange(found_, std::nullopt); }

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
    name_ = {};  // nobody has answered: the next time that it is busy we ask again
    return;
  }
  asked_.insert({name_, holder_});
  const Inspection key = agreed(seen, holder_);
  const auto holder = std::ranges::find_if(key.holders, [&](const Holder& one) {
    const bool asked_for = holder_.str().empty() || one.owner == holder_;
    return asked_for && one.meta && is_above(*one.meta);
  });
  if (holder == key.holders.end()) return;
  if (joins_) {
    found_ = InheritedHold{std::string{type_.name}, holder->owner, name_};
    return;
  }
  text_ = fmt::format("deadlock: {} is held by process {} ({}), which waits for this command", quoted(name_),
                      holder->meta->pid, sanitized(holder->meta->command));
  give_up_at_ = earliest(give_up_at_, plus(begun_ == kNever ? now : begun_, kGivesUpAfter));
}

}  // namespace rlock
