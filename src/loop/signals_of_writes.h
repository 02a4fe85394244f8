#pragma once

#include <signal.h>

#include <array>

namespace rlock {

/// Ignored, so that a failed write is an error. XFSZ: a write beyond RLIMIT_FSIZE.
constexpr std::array kOfWrites{SIGPIPE, SIGXFSZ};

/// Ignores these signals from the first call on. main() makes it, because a failure may be reported before Signals exists.
/// Returns their dispositions at that time.
const std::array<struct sigaction, kOfWrites.size()>& ignore_signals_of_writes() noexcept;

}  // namespace rlock
