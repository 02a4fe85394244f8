#pragma once

#include <csignal>

#include "base/time.h"

namespace rlock {

/// How the processes of a lock are stopped: the options --signal, --kill-after and --on-lost.
struct StopRules {
  int signal = SIGTERM;
  Milliseconds kill_after{5000};  ///< between the signal and KILL, at --max-hold and after a request to stop
  bool stop_on_loss = true;       ///< false: they run on if the lock is lost
};

/// After KILL, a holder has this long to see its command end and to release.
constexpr Milliseconds kAfterKill{5000};

}  // namespace rlock
