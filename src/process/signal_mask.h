#pragma once

#include <csignal>

namespace rlock {

/// Blocks all signals for the calling thread. The kernel leaves SIGKILL and SIGSTOP out.
inline void block_all_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

inline void unblock_all_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace rlock
