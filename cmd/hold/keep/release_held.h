#pragma once

#include <vector>

#include "cmd/hold/command/held_command.h"
#include "cmd/hold/keys/held_keys.h"
#include "redis/redis.h"
#include "sync/hold/release.h"

namespace rlock {

/// A hold that ends, and how it is released.
struct EndingHold {
  const HeldKeys& keys;
  std::vector<Part> parts;  ///< as HeldKeys::ending() or ending_kept() made them
  Lost lost = Lost::no;
  ReleaseOptions options{};
  Milliseconds kept{0};  ///< how long the release may keep the keys
};

/// Releases the parts of a hold. For each key it warns if no quorum of servers has confirmed the release, or if no
/// waiter could be woken. If the hold is lost, another process may have acquired a key again as an owner who returns,
/// and a release would free that hold. For such a part it only records the end, and answers not_ours; that has a time
/// of its own (cleanup_time()) behind `patience`. Returns one answer for each part, in their order.
std::vector<ReleaseResult> release_held(Redis& redis, const EndingHold& hold, const Patience& patience);

}  // namespace rlock
