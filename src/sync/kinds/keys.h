#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"

namespace rlock {

/// Redisson's rules for the names that stand beside a key, once. A name with an opening brace is taken to
/// bring its own hash tag; any other is wrapped into one, so that all of them share a cluster slot.

/// prefix_name("redisson_lock_queue", "orders") == "redisson_lock_queue:{orders}"
std::string prefix_name(std::string_view prefix, const LockName& name);

/// suffix_name("orders", "timeout") == "{orders}:timeout"
std::string suffix_name(const LockName& name, std::string_view suffix);

/// Where releases of each kind are announced.
Channel lock_channel(const LockName& name);
Channel read_write_channel(const LockName& name);
Channel permits_channel(const LockName& name);  ///< of semaphores too
Channel latch_channel(const LockName& name);

/// The queue of a fair lock, in the order in which the scripts name its keys: Redisson's list of owners,
/// Redisson's zset of their deadlines, and a hash of our own of those who are rlock's and say that they live.
/// That one stands among Redisson's unlock latches, which have random names: so an ACL made for Redisson
/// suffices, and no name of Redisson's can be the same.
std::vector<std::string> fair_queue_keys(const LockName& name);

/// The line of those of rlock who wait for a lock that is not fair: a zset, owner -> when it arrived; a hash,
/// owner -> what the scripts note of it; and a hash, owner -> JSON, what it says of itself (of those who wait
/// for a fair lock, too). Among Redisson's unlock latches, as the queue's.
std::vector<std::string> line_keys(const LockName& name);

/// The slots of rlock's permits: a zset, the end of a permit's id -> its slot. It can be made from the permits that
/// are taken, so nothing is lost with it. Among Redisson's unlock latches, as the queue's.
std::string permit_slots_key(const LockName& name);

/// Until when a lock stays although its owner had holds inside that went on (--min-hold, --once-per): a string
/// among Redisson's unlock latches, as the queue's.
std::string keep_key(const LockName& name);

/// Where rlock keeps what people want to know about holders: a hash, owner -> JSON.
std::string metadata_key(const LockName& name);

/// Where rlock keeps how the last holds ended: a zset.
std::string history_key(const LockName& name);

/// Do the derived names share a slot with the key? "a{b",
/// "{}x" and "a}b" do not, and a cluster cannot place them.
bool placeable(const LockName& name);

}  // namespace rlock
