#pragma once

#include <algorithm>
#include <vector>

#include "redis/redis.h"

namespace rlock {

/// Listens on channels for as long as it lives. What it takes are messages and confirmed subscriptions: what
/// was announced before one of those was not heard. The destructor sends UNSUBSCRIBE and waits for nothing.
/// REQUIRES: the Redis outlives it.
class WakeUps {
 public:
  explicit WakeUps(Redis& redis) : redis_(redis) { (void)redis_.take_messages(); }
  ~WakeUps() { listen_to({}); }
  WakeUps(const WakeUps&) = delete;
  WakeUps& operator=(const WakeUps&) = delete;

  /// To these, and no others. Nothing that was announced on one of both is missed.
  void listen_to(std::vector<Channel> channels) {
    for (const Channel& channel : channels)
      if (std::ranges::find(channels_, channel) == channels_.end()) redis_.watch(channel);
    for (const Channel& channel : channels_)
      if (std::ranges::find(channels, channel) == channels.end()) redis_.unwatch(channel);
    channels_ = std::move(channels);
  }

  /// Lets the subscriptions stand: to end them costs the server more.
  void let_stand() { channels_.clear(); }

  /// The newest since the last take.
  std::vector<Message> take() { return redis_.take_messages(); }

 private:
  Redis& redis_;
  std::vector<Channel> channels_;
};

}  // namespace rlock
