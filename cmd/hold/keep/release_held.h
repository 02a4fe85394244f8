#pragma once

#include <vector>

#include "cmd/hold/keep/ending_hold.h"
#include "redis/redis.h"
#include "sync/hold/release.h"

namespace rlock {

/// Releases the parts of a hold, until `patience` ends or the latest() time is over. For each key it warns if no quorum
/// of servers has confirmed the release, or if no waiter could be woken. For a part that may be another's by now it
/// only records the end, and answers not_ours; that has a time of its own (cleanup_time()) behind `patience`. Returns
/// one answer for each part, in their order.
std::vector<ReleaseResult> release_held(Redis& redis, const EndingHold& hold, Patience patience);

}  // namespace rlock
