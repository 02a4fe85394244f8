// The mailbox goes through these states:
//
//   as_waiter_  If there is a mailbox of the wait, it still listens to what the wait listened to. We do not read its
//               messages. More than eight of them, confirmations included, end this state early by end_wait().
//   then        Until listen_at_, the mailbox keeps only those of our own channels that the wait listened to.
//   listening   From listen_at_ on, it listens to exactly our own channels, and we read its messages. Earlier ones are
//               thrown away, and some may have been missed. So take_confirmation() then makes the caller look whether
//               the lock is still ours.

#include "cmd/hold/keys/hold_messages.h"

#include <utility>

#include "sync/records/holder_messages.h"

namespace rlock {
namespace {

/// This many messages cost the server about as much as UNSUBSCRIBE.
constexpr std::uint64_t kMostMessages = 8;

}  // namespace

HoldMessages::HoldMessages(Redis& redis, std::span<const Part> parts, TimePoint listen_at,
                           std::shared_ptr<Mailbox> of_wait)
    : redis_(redis),
      messages_before_(redis.wakeups()),
      listen_at_(listen_at),
      mailbox_(std::move(of_wait)),
      as_waiter_(mailbox_ != nullptr) {
  for (const Part& part : parts) channels_.push_back(holder_channel(part.lock->name(), part.lock->owner()));
}

bool HoldMessages::too_many_messages() const {
  return as_waiter_ && redis_.wakeups() - messages_before_ > kMostMessages;
}

void HoldMessages::end_wait() {
  if (std::exchange(as_waiter_, false)) mailbox_->keep_only(channels_);
}

void HoldMessages::ready(short, TimePoint now) {
  if (too_many_messages()) end_wait();
  if (now < listen_at_) return;
  listen_at_ = kNever;
  // The waiter may have listened to our channel already, and the server confirms no second subscription.
  has_confirmation_ = mailbox_ != nullptr;
  as_waiter_ = false;
  if (!mailbox_) mailbox_ = std::make_shared<Mailbox>(redis_);
  static_cast<void>(mailbox_->take());  // these messages are for a waiter, or were missed
  mailbox_->listen_to(channels_);
}

void HoldMessages::read_messages() {
  if (listen_at_ != kNever) return;
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
