#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/names.h"
#include "base/time.h"

namespace rlock {

/// `count` bytes from the kernel's generator. Throws Error{system} if it fails.
std::string random_bytes(std::size_t count);

/// A random number in [0, bound); 0 if bound is 0.
std::uint64_t random_below(std::uint64_t bound);

/// A random duration in [0, span].
Milliseconds jitter(Milliseconds span);

/// jitter(), or what a test uses instead.
using Jitter = std::function<Milliseconds(Milliseconds span)>;

/// 32 hexadecimal digits.
RequestId new_request();

}  // namespace rlock
