#pragma once

#include <span>
#include <string>
#include <vector>

#include "redis/redis.h"
#include "sync/kinds/lockable.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// What became of the release of one part.
struct ReleaseResult {
  enum class How {
    yes,       ///< free now (of several servers: a quorum of them is), or still held by an outer hold of ours
    kept,      ///< stays for the rest of --min-hold
    not_ours,  ///< it was not ours any more: it had been lost
    unknown,   ///< nobody answered in time; it frees itself with the lease
  } how = How::unknown;
  Milliseconds rest{0};     ///< kept: how long still
  std::string why;          ///< who did not confirm it, and why; empty: everybody did
  std::string unannounced;  ///< why waiters could not be told; empty when they were
};

/// Releases every part, all at once and whatever becomes of the others, each with its release_followers; one
/// result per part.
[[nodiscard]] std::vector<ReleaseResult> release(Redis& redis, std::span<const Part> parts,
                                                 const ReleaseOptions& options, const Patience& patience);

}  // namespace rlock
