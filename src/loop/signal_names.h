#pragma once

namespace rlock {

/// "TERM"; nullptr for a number that has no name. glibc has that as sigabbrev_np(3), musl has nothing like it.
const char* signal_abbreviation(int number) noexcept;

}  // namespace rlock
