#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace rlock {

/// close_range(2) by its number, since musl has no function for it. -1 where the kernel has none either
/// (before 5.9).
inline long close_range(unsigned first, unsigned last) { return ::syscall(SYS_close_range, first, last, 0U); }

}  // namespace rlock
