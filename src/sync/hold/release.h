#pragma once

#include <span>
#include <string>
#include <vector>

#include "redis/redis.h"
#include "sync/calls/lockable.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// The result of the release of one part.
struct ReleaseResult {
  enum class How {
    /// It is free now, with several servers at a quorum. Or another hold of its owner goes on, or others share this one
    yes,
    kept,      ///< the key stays for a while, as ReleaseOptions::keep_until demanded
    not_ours,  ///< it was not ours any more: it had been lost
    unknown,   ///< no quorum answered in time; the lock expires with the lease
  } how = How::unknown;
  Milliseconds rest{0};     ///< kept: how long the key stays
  std::string why;          ///< the nodes that did not confirm the release, and why; empty: all confirmed it
  std::string unannounced;  ///< why waiters could not be told; else empty
};

/// Releases all parts at once, each with its release_followers; a failure of one does not affect the others.
/// Returns one result per part.
[[nodiscard]] std::vector<ReleaseResult> release(Redis& redis, std::span<const Part> parts,
                                                 const ReleaseOptions& options, const Patience& patience);

/// What the undo of a part came to.
enum class Undone {
  freed,        ///< the key is free now
  one_hold,     ///< the new hold is gone, and the owner has its earlier holds
  nothing,      ///< the acquire had given the owner no new hold: it has what it had before
  unconfirmed,  ///< no quorum has answered
};

/// Undoes what these parts have acquired, and no other hold of the owner. Each undo goes with the release_followers of
/// its part. Waiters are told. Returns one result per part.
[[nodiscard]] std::vector<Undone> undo_parts(Redis& redis, std::span<const Part> parts,
                                             const Patience& patience);

/// Sends only the release_followers of the parts, and releases nothing. It is for keys that are lost, and
/// that the same owner may have acquired again.
void record_end(Redis& redis, std::span<const Part> parts, const Patience& patience);

}  // namespace rlock
