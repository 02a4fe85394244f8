#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"

namespace rlock {

/// Redisson's rules for the names of the keys beside a lock. A name that contains an opening brace is
/// expected to have a hash tag of its own. Any other name is put in braces, so that all its keys share one
/// Cluster slot.

/// The prefixes of the token of a fenced lock and of rlock's facts about holders.
constexpr std::string_view kTokenPrefix = "redisson_lock_token", kMetadataPrefix = "rlock:meta";

/// prefix_name("redisson_lock_queue", "orders") == "redisson_lock_queue:{orders}"
std::string prefix_name(std::string_view prefix, const LockName& name);

/// suffix_name("orders", "timeout") == "{orders}:timeout"
std::string suffix_name(const LockName& name, std::string_view suffix);

/// Of a read/write lock, the field of an owner who writes ends so. The field of one who reads is the owner.
constexpr std::string_view kWriteSuffix = ":write";

/// The end that Redisson writes for a permit without a lease, in ms since the epoch. lua/shared/permits/no_lease.lua
/// has the same figure.
constexpr std::int64_t kNoLease = 922337203685477;

/// The channels on which clients announce the releases of each kind.
Channel lock_channel(const LockName& name);
Channel read_write_channel(const LockName& name);
Channel permits_channel(const LockName& name);  ///< for semaphores, too
Channel latch_channel(const LockName& name);

/// The channel beside one of these that only this waiter or holder hears.
Channel own_channel(const Channel& channel, const Owner& owner);

/// A key that only rlock has. Its name is among Redisson's unlock latches, which are named at random. So an ACL made
/// for Redisson suffices, and no name can collide.
std::string own_key(const LockName& name, std::string_view part);

/// The keys of a fair lock's queue, in the order of the scripts:
///   Redisson's list of owners
///   Redisson's zset of their deadlines
///   rlock's hash of its living waiters
std::vector<std::string> fair_queue_keys(const LockName& name);

/// The keys of the line of rlock's waiters, for a lock that is not fair:
///   a zset, owner -> time of arrival
///   a hash, owner -> notes of the scripts about the waiter
///   a hash, owner -> JSON, the waiter's description of itself (also for waiters for a fair lock)
std::vector<std::string> line_keys(const LockName& name);

/// A string: the newest token of a fenced lock. Redisson's name for it.
std::string token_key(const LockName& name);

/// The taken permits of a pool: a zset, id -> end of its lease. Redisson's name for it.
std::string taken_key(const LockName& name);

/// The slots of rlock's permits: a zset, the last 12 bytes of a permit's id -> slot. The scripts can rebuild
/// it from the taken permits, so losing it does no harm.
std::string permit_slots_key(const LockName& name);

/// A string: the requests by which an owner has acquired its present hold, see lua/shared/shares/read_shares. `entry`:
/// the owner as the lock names it, because an owner may have both halves of a read/write lock.
std::string shares_key(const LockName& name, std::string_view entry);

/// A string: the time until which a lock must stay (--min-hold, --once-per). The hold that asked for it may
/// end before its inner holds. Then its release writes the time here, for the release of the last inner hold.
std::string keep_key(const LockName& name);

/// The mark of --once-per: see lua/shared/hold/mark_done.
std::string done_key(const LockName& name);

/// The inner holds of an owner, if the lock itself does not count holds (plain token locks, permits): a zset,
/// request -> end of its lease.
std::string inner_holds_key(const LockName& name, const Owner& owner);

/// The keys of the marks by which a release by hand tells a keeper of it, see src/sync/records/holder_messages.cpp.
std::string released_key(const LockName& name, const Owner& owner);

/// The hash in which rlock records facts about holders for people: owner -> JSON.
std::string metadata_key(const LockName& name);

/// The zset in which rlock records how the last holds ended.
std::string history_key(const LockName& name);

/// Do the derived names share a Cluster slot with the key? Those of "a{b", "{}x" and "a}b" do not, so a
/// Cluster refuses calls with the key and such a name.
bool placeable(const LockName& name);

}  // namespace rlock
