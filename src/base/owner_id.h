#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/names.h"

namespace rlock {

/// A new owner in Redisson's form, "<uuid>:<n>". Redisson's n is a thread; ours is the pid of the holder. By
/// this pid a waiter sees that one of its ancestors holds the lock (AncestorWatch). Our UUID has version 8,
/// Redisson's has 4: "6e0f0261-922f-8ca9-9275-5cd246e2e294:4711".
Owner new_owner();
Owner new_owner(std::int64_t pid);

/// The length of the longest owner that rlock makes. A process id of Linux is at most 2^22.
constexpr std::size_t kLongestOwner = std::string_view{"6e0f0261-922f-8ca9-9275-5cd246e2e294:4194304"}.size();

/// The process id in an owner that rlock made; empty for any other owner.
std::optional<std::int64_t> process_in(const Owner& owner);

/// has_redisson_form(): does an owner look like those of Redisson and rlock? is_of_rlock(): did rlock make it
/// (new_owner())?
bool has_redisson_form(const Owner& owner);
bool is_of_rlock(const Owner& owner);

}  // namespace rlock
