#pragma once

#include "base/time.h"

namespace rlock {

// The real clock, for code that blocks or makes long passes over /proc, because the `now` of its turn of the loop
// gets too old. Other code gets `now` as an argument, or asks its loop.

/// remaining(), counted from this moment.
inline Milliseconds time_left(TimePoint until) noexcept { return remaining(until, Clock::now()); }

/// Has this time come?
inline bool has_passed(TimePoint time) noexcept { return time_left(time) == Milliseconds::zero(); }

}  // namespace rlock
