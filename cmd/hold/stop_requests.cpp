#include "cmd/hold/stop_requests.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sync/watch/holder_messages.h"

namespace rlock {
namespace {

/// This many messages cost the server about as much as UNSUBSCRIBE.
constexpr std::uint64_t kMostMessages = 8;

}  // namespace

StopRequests::StopRequests(Redis& redis, std::span<const Part> parts, TimePoint listen_at)
    : redis_(redis), messages_before_(redis.wakeups()), listen_at_(listen_at) {
  for (const Part& part : parts) {
    channels_.push_back(holder_channel(part.lock->name(), part.lock->owner()));
    std::ranges::copy(part.lock->channels(), std::back_inserter(of_waiters_));
  }
  redis_.loop().join(*this);
}

StopRequests::~StopRequests() { redis_.loop().leave(*this); }

bool StopRequests::too_many_messages() const {
  return !of_waiters_.empty() && redis_.wakeups() - messages_before_ > kMostMessages;
}

void StopRequests::end_wait() {
  for (const Channel& channel : of_waiters_)
    if (std::ranges::find(channels_, channel) == channels_.end()) redis_.unwatch(channel);
  of_waiters_.clear();
}

void StopRequests::ready(short, TimePoint now) {
  if (too_many_messages()) end_wait();
  if (now < listen_at_) return;
  listen_at_ = kNever;
  mailbox_.emplace(redis_).listen_to(channels_);
  end_wait();
}

const std::optional<std::string>& StopRequests::asked() {
  hear();
  return asked_;
}

const std::optional<std::string>& StopRequests::removed() {
  hear();
  return removed_;
}

bool StopRequests::take_removal() {
  hear();
  return std::exchange(has_removal_, false);
}

bool StopRequests::take_confirmation() {
  hear();
  return std::exchange(has_confirmation_, false);
}

bool StopRequests::take_release() {
  hear();
  return std::exchange(has_release_, false);
}

void StopRequests::hear() {
  if (!mailbox_) return;
  for (const Message& message : mailbox_->take()) {
    if (!message.text) {
      has_confirmation_ = true;
      continue;
    }
    if (!asked_) asked_ = read_stop_request(*message.text);
    const auto removal = read_removal_notice(*message.text);
    if (!removed_) removed_ = removal;
    has_removal_ = has_removal_ || removal;
    has_release_ = has_release_ || *message.text == kReleased;
  }
}

}  // namespace rlock
