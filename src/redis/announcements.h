#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redis/message.h"

namespace rlock {

class Mailbox;

/// The channels that the servers announce releases on. A Mailbox listens; Redis implements this.
class Announcements {
 public:
  virtual ~Announcements() = default;

  virtual void watch(const Channel& channel) = 0;
  virtual void unwatch(const Channel& channel) = 0;

  /// Number of messages and confirmed (re-)subscriptions; only grows.
  virtual std::uint64_t wakeups() const = 0;

  /// Why no node sends messages; empty: some node does.
  virtual std::optional<std::string> subscribe_error() const = 0;

 protected:
  /// The newest messages since the last take.
  virtual std::vector<Message> take_messages() = 0;

 private:
  friend class Mailbox;
  void distribute();  ///< gives each mailbox the messages on its channels

  std::vector<Mailbox*> mailboxes_;
};

}  // namespace rlock
