#include "base/blocking.h"

#include <poll.h>

#include <cerrno>

namespace rlock {

bool wait_until_ready(int fd, short events, TimePoint until) noexcept {
  for (;;) {
    pollfd there{.fd = fd, .events = events, .revents = 0};
    const int count = ::poll(&there, 1, static_cast<int>(time_left(until).count()));
    if (count > 0) return true;  // also for POLLERR and POLLHUP
    if (count == 0 || errno != EINTR) return false;
  }
}

}  // namespace rlock
