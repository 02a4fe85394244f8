#pragma once

#include <vector>

#include "redis/redis.h"

namespace rlock {

/// Listens on channels for as long as it lives, and keeps what comes there for whoever has it: every mailbox
/// gets its own copy. Messages and confirmed subscriptions come: what was announced before a confirmation was
/// not heard. The destructor sends UNSUBSCRIBE and waits for nothing. REQUIRES: the Redis outlives it.
class Mailbox {
 public:
  explicit Mailbox(Redis& redis);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// To these, and no others. Nothing that was announced on one of both is missed.
  void listen_to(std::vector<Channel> channels);

  /// Lets the subscriptions stand: to end them costs the server more.
  void let_stand();

  /// The newest since the last take, in order.
  std::vector<Message> take();

 private:
  friend class Redis;
  void put(const Message& message);

  Redis& redis_;
  std::vector<Channel> channels_;
  std::vector<Message> messages_;
};

}  // namespace rlock
