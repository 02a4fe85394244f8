#pragma once

#include <vector>

#include "redis/announcements.h"
#include "redis/message.h"

namespace rlock {

/// Listens on channels as long as it lives, and keeps the messages for its owner. Each mailbox gets its own
/// copy. It also reports each confirmed subscription, because messages before it may have been missed. The
/// destructor sends UNSUBSCRIBE and does not wait. REQUIRES: `source` outlives it.
class Mailbox {
 public:
  explicit Mailbox(Announcements& source);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Listens to exactly these channels. It misses no message on channels that stay.
  void listen_to(std::vector<Channel> channels);

  /// Stops listening to all channels but these, and listens to no new one.
  void keep_only(const std::vector<Channel>& channels);

  /// The newest messages since the last take(), in order.
  std::vector<Message> take();

 private:
  friend class Announcements;
  void put(const Message& message);

  Announcements& source_;
  std::vector<Channel> channels_;
  std::vector<Message> messages_;
};

}  // namespace rlock
