// From look_at_ on, the watch takes these steps. A silent server, or a member without a listener, ends them.
//
//   search_    It names the keys, and inquiry_ inspects them one by one. They are seen at different times, so the
//              circle that it finds may never have existed as a whole.
//   suspects_  The owners of that circle. New ones are searched again after kSecondLook. Only the same owners twice in
//              a row are a deadlock, because a deadlock stays.
//   circle_    If we are its youngest member, inquiry_ asks for each other member in turn (living_) whether a process
//              listens on its channel. This comes last: most looks never need it.

#include "cmd/hold/wait/deadlock_watch.h"

#include <fmt/format.h>

#include "base/key_text.h"
#include "base/log.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/view/holder_text.h"

namespace rlock {
namespace {

/// The pause before the second search, which confirms a circle.
constexpr Milliseconds kSecondLook{100};

std::vector<Owner> owners_of(const std::vector<DeadlockMember>& circle) {
  std::vector<Owner> owners;
  for (const DeadlockMember& member : circle) owners.push_back(member.owner);
  return owners;
}

/// "deadlock: 'b' is held by a run above A, which waits for 'c', held by a run above B, which waits for 'a', held by a
/// run above this one". A and B are waiters: no member of the circle holds a key itself.
std::string text_of(const std::vector<DeadlockMember>& circle) {
  std::string text = fmt::format("deadlock: {} is held by a run above ", quoted(circle.front().waits_for));
  for (std::size_t i = 1; i < circle.size(); ++i)
    text += fmt::format("{}, which waits for {}, held by a run above ",
                        holder_text({.owner = circle[i].owner, .facts = circle[i].facts}, std::nullopt),
                        quoted(circle[i].waits_for));
  return text + "this one";
}

}  // namespace

DeadlockWatch::DeadlockWatch(Redis& redis, Options options)
    : redis_(redis), options_(std::move(options)), inquiry_(redis) {}

void DeadlockWatch::note_waiting(const Waiting& waiting) {
  if (waiting.busy == nullptr || waiting.what.asker() == nullptr) return;
  if (begun_ == kNever) {
    begun_ = redis_.loop().now();
    look_at_ = wait_line_at(begun_, 0);
  }
  us_ = *waiting.what.asker();
  if (waiting.busy->key == wanted_) return;
  wanted_ = waiting.busy->key;
  search_.reset();
  circle_.clear();
  inquiry_.drop();
}

TimePoint DeadlockWatch::wake_at() const {
  if (ends_the_wait_) return kNever;
  return search_ || !circle_.empty() ? inquiry_.wake_at() : look_at_;
}

void DeadlockWatch::ready(short, TimePoint now) {
  if (ends_the_wait_) return;
  if (!search_ && circle_.empty()) {
    if (now >= look_at_) begin(now);
    return;
  }
  if (inquiry_.under_way()) inquiry_.advance();
  if (inquiry_.under_way()) return;
  if (!circle_.empty()) return take_listeners();
  const std::vector<Inspection> seen = inquiry_.seen();
  if (seen.empty()) return conclude(now);
  search_->read(seen.front());
  ask_next(now);
}

void DeadlockWatch::begin(TimePoint now) {
  search_.emplace(wanted_, *us_, options_.holds);
  ask_next(now);
}

void DeadlockWatch::ask_next(TimePoint now) {
  if (search_->next() == nullptr) return conclude(now);
  inquiry_.begin(*search_->next(), std::nullopt, options_.answer_within);
}

void DeadlockWatch::conclude(TimePoint now) {
  const std::vector<DeadlockMember> circle = search_->circle();
  search_.reset();
  const std::vector<Owner> owners = owners_of(circle);
  const bool again = !circle.empty() && owners == suspects_;
  suspects_ = owners;
  if (!circle.empty() && !again) {
    look_at_ = plus(now, kSecondLook);
    return;
  }
  while (look_at_ <= now) look_at_ = wait_line_at(begun_, ++looks_);
  if (!again || youngest(circle).owner != *us_) return;
  circle_ = circle;
  living_ = 1;
  ask_for_listeners();
}

void DeadlockWatch::ask_for_listeners() {
  const DeadlockMember& next = circle_[living_];
  inquiry_.begin(next.waits_for, next.own, options_.answer_within);
}

void DeadlockWatch::take_listeners() {
  if (inquiry_.listeners() == 0)
    // No process listens for this member: it was killed, or the server does not tell the number of listeners. Then
    // this run does not give up.
    return circle_.clear();
  if (++living_ < circle_.size()) return ask_for_listeners();
  text_ = text_of(circle_);
  circle_.clear();
  ends_the_wait_ = options_.gives_up;
  if (!options_.gives_up) warn(text_);
}

}  // namespace rlock
