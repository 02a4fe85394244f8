#pragma once

#include "base/time.h"

namespace rlock {

// The real clock, for code that blocks or makes long passes over /proc, because the `now` of its turn of the loop
// gets too old. Other code gets `now` as an argument, or asks its loop.

/// remaining(), counted from this moment.
inline Milliseconds time_left(TimePoint until) noexcept { return remaining(until, Clock::now()); }

/// Has this time come?
inline bool has_passed(TimePoint time) noexcept { return time_left(time) == Milliseconds::zero(); }

/// Waits until a descriptor is ready for `events` (POLLIN or POLLOUT), or `until`. Returns whether it is ready. A file
/// always is. So is a pipe whose other end is closed: the read or write then says so. A named pipe that nobody has
/// opened for writing yet is not ready to be read.
bool wait_until_ready(int fd, short events, TimePoint until) noexcept;

}  // namespace rlock
