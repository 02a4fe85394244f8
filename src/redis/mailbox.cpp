#include "redis/mailbox.h"

#include <algorithm>
#include <utility>

namespace rlock {

void Announcements::distribute() {
  for (const Message& message : take_messages())
    for (Mailbox* mailbox : mailboxes_) mailbox->put(message);
}

Mailbox::Mailbox(Announcements& source) : source_(source) {
  source_.distribute();  // earlier messages are not for this mailbox
  source_.mailboxes_.push_back(this);
}

Mailbox::~Mailbox() {
  listen_to({});
  std::erase(source_.mailboxes_, this);
}

void Mailbox::listen_to(std::vector<Channel> channels) {
  source_.distribute();  // messages so far belong to the old channels
  for (const Channel& channel : channels)
    if (std::ranges::find(channels_, channel) == channels_.end()) source_.watch(channel);
  for (const Channel& channel : channels_)
    if (std::ranges::find(channels, channel) == channels.end()) source_.unwatch(channel);
  channels_ = std::move(channels);
}

void Mailbox::keep_only(const std::vector<Channel>& channels) {
  std::vector<Channel> kept = channels_;
  std::erase_if(kept, [&](const Channel& one) { return std::ranges::find(channels, one) == channels.end(); });
  listen_to(std::move(kept));
}

std::vector<Message> Mailbox::take() {
  source_.distribute();
  return std::exchange(messages_, {});
}

void Mailbox::put(const Message& message) {
  if (std::ranges::find(channels_, message.channel) == channels_.end()) return;
  if (messages_.size() == kMessagesKept) messages_.erase(messages_.begin());
  messages_.push_back(message);
}

}  // namespace rlock
