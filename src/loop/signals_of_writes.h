#pragma once

#include <signal.h>

#include <array>

namespace rlock {

/// Ignored, so that a failed write is an error. XFSZ: a write beyond RLIMIT_FSIZE.
constexpr std::array kOfWrites{SIGPIPE, SIGXFSZ};

/// The first call ignores these signals. main() makes it, because a failure may be reported before Signals exists.
/// Every call returns the dispositions that they had before.
const std::array<struct sigaction, kOfWrites.size()>& ignore_signals_of_writes() noexcept;

}  // namespace rlock
