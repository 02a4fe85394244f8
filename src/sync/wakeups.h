#pragma once

#include <algorithm>
#include <vector>

#include "redis/redis.h"

namespace rlock {

/// Listens on channels for as long as it lives, and remembers whether there
/// was a reason to ask again: a message, or a subscription that has just
/// been confirmed, because what was announced before it was not heard.
/// The destructor is local and immediate. REQUIRES: the Redis outlives it.
class WakeUps {
 public:
  WakeUps(Redis& redis, std::vector<Channel> channels)
      : redis_(redis), channels_(std::move(channels)), seen_(redis.wakeups()) {
    for (const Channel& channel : channels_) redis_.watch(channel);
  }
  ~WakeUps() {
    for (const Channel& channel : channels_) redis_.unwatch(channel);
  }
  WakeUps(const WakeUps&) = delete;
  WakeUps& operator=(const WakeUps&) = delete;

  const std::vector<Channel>& channels() const noexcept { return channels_; }

  /// Was there a reason since the last look?
  bool take() {
    const std::uint64_t count = redis_.wakeups();
    return std::exchange(seen_, count) != count;
  }

 private:
  Redis& redis_;
  const std::vector<Channel> channels_;
  std::uint64_t seen_;
};

}  // namespace rlock
