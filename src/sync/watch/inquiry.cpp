#include "sync/watch/inquiry.h"

#include <algorithm>

#include "redis/quorum.h"
#include "sync/watch/listeners.h"

namespace rlock {

void Inquiry::begin(const LockName& name, const std::optional<Channel>& channel, Milliseconds answer_within) {
  begin(InspectionSteps{name}, name, channel, answer_within);
}

void Inquiry::glance(const LockName& name, const Owner& asker, const std::optional<Channel>& channel,
                     Milliseconds answer_within) {
  begin(InspectionSteps{name, asker}, name, channel, answer_within);
}

void Inquiry::begin(InspectionSteps steps, const LockName& name, const std::optional<Channel>& channel,
                    Milliseconds answer_within) {
  drop();
  answer_within_ = answer_within;
  begun_ = redis_.loop().now();
  listeners_ = 0;
  steps_ = std::move(steps);
  post_next();
  // The caller knows the channel already, so the count need not wait for the kind of the lock.
  if (channel) count_ = redis_.post(count_listeners(name, *channel), {}, plus(begun_, answer_within_));
}

void Inquiry::drop() {
  asked_.drop();
  count_.drop();
}

void Inquiry::post_next() {
  asked_ = redis_.post(*steps_->call(), {}, plus(redis_.loop().now(), answer_within_));
}

/// Has a quorum answered, or will no more answers come?
bool Inquiry::answered() const {
  return tally_replies(asked_.votes()).has(redis_.quorum()) || asked_.settled();
}

TimePoint Inquiry::wake_at() const { return under_way() && answered() ? TimePoint::min() : kNever; }

void Inquiry::advance() {
  if (!under_way() || !answered()) return;
  steps_->read(asked_.votes());
  if (steps_->call()) return post_next();
  read_listeners_of_all();
  drop();
}

std::vector<Inspection> Inquiry::seen() const {
  std::vector<Inspection> seen;
  for (const InspectionSteps::View& view : steps_->views())
    if (const auto* inspection = std::get_if<Inspection>(&view)) seen.push_back(*inspection);
  return seen;
}

void Inquiry::read_listeners_of_all() {
  if (!count_) return;
  for (const Vote& vote : count_.votes())
    if (vote.reply()) listeners_ = std::max(listeners_, read_listeners(*vote.reply()));
}

}  // namespace rlock
