#include "base/writable.h"

#include <poll.h>

#include <cerrno>

#include "base/blocking.h"

namespace rlock {

bool writable(int fd, TimePoint until) noexcept {
  for (;;) {
    pollfd there{.fd = fd, .events = POLLOUT, .revents = 0};
    const int count = ::poll(&there, 1, static_cast<int>(time_left(until).count()));
    if (count > 0) return true;  // also for POLLERR: write() then reports the error
    if (count == 0 || errno != EINTR) return false;
  }
}

}  // namespace rlock
