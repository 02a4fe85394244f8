#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/names.h"
#include "base/time.h"

namespace rlock {

/// `count` bytes of the kernel's generator. Throws Error{system} where there is none.
std::string random_bytes(std::size_t count);

/// A number in [0, bound); 0 when bound is 0.
std::uint64_t random_below(std::uint64_t bound);

/// A random duration in [0, span].
Milliseconds jitter(Milliseconds span);

/// A new owner in Redisson's form, "<uuid>:<n>", where Redisson's n is the number of a thread and ours that of
/// the process that holds: a process below it sees by this that it may be waiting for itself.
/// The UUID is of version 8 where Redisson's are of version 4: "6e0f0261-922f-8ca9-9275-5cd246e2e294:4711".
Owner new_owner();
Owner new_owner(std::int64_t pid);

/// The process id in an owner that rlock made; nothing for any other owner.
std::optional<std::int64_t> process_in(const Owner& owner);

/// Does an owner look like those of Redisson and rlock; and has rlock made it (new_owner())?
bool has_redisson_form(const Owner& owner);
bool is_of_rlock(const Owner& owner);

/// 32 hexadecimal digits.
RequestId new_request();

}  // namespace rlock
