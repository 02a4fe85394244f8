#pragma once

namespace rlock {

/// "TERM"; nullptr for a number that has no name. What sigabbrev_np(3) of glibc is; musl has nothing like it.
const char* signal_abbreviation(int number) noexcept;

}  // namespace rlock
