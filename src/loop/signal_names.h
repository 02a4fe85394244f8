#pragma once

namespace rlock {

/// "TERM"; null if the number has no name. Like sigabbrev_np(3) of glibc, which musl lacks.
const char* signal_abbreviation(int number) noexcept;

}  // namespace rlock
