#pragma once

#include <unistd.h>

namespace rlock {

/// Forks. The child runs `work` and ends, with status 0, or 1 if `work` throws. In the child the exception must not
/// unwind the caller's frames, because their destructors would give up what the parent holds. Returns the pid, or -1
/// with errno.
template <class Work>
pid_t fork_for(const Work& work) noexcept {
  const pid_t process = ::fork();
  if (process != 0) return process;
  try {
    work();
  } catch (...) {  // the child has no caller that could catch it
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace rlock
