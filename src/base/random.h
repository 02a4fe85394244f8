#pragma once

#include <cstdint>
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

/// An owner as Redisson writes them, "<uuid>:<n>": n counts the holds of this process, from 1.
/// The UUID is of version 8 where Redisson's are of version 4: "6e0f0261-922f-8ca9-9275-5cd246e2e294:1".
Owner new_owner();

/// Does an owner look like those of Redisson and rlock; and has rlock made it (new_owner())?
bool has_redisson_form(const Owner& owner);
bool is_of_rlock(const Owner& owner);

/// 32 hexadecimal digits.
RequestId new_request();

}  // namespace rlock
