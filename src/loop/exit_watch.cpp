#include "loop/exit_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace rlock {
namespace {

constexpr Milliseconds kBetweenChecks{500};
constexpr Milliseconds kWithoutPidfd{50};

}  // namespace

ExitWatch::ExitWatch(Loop& loop, pid_t pid)
    // glibc 2.36 declares its wrapper for C only.
    : pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))), membership_(loop, *this) {
  const bool gone = !pidfd_ && errno == ESRCH;
  wake_at_ = gone ? TimePoint::min() : plus(loop.now(), pidfd_ ? kBetweenChecks : kWithoutPidfd);
}

void ExitWatch::ready(short, TimePoint) {
  over_ = true;
  wake_at_ = kNever;
}

}  // namespace rlock
