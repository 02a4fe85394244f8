#include "base/blocking.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>

namespace rlock {

bool wait_until_ready(int fd, short events, TimePoint until) noexcept {
  for (;;) {
    // poll() takes 24 days at most.
    const auto left = std::min<std::int64_t>(time_left(until).count(), std::numeric_limits<int>::max());
    pollfd there{.fd = fd, .events = events, .revents = 0};
    const int count = ::poll(&there, 1, static_cast<int>(left));
    if (count > 0) return true;  // also for POLLERR and POLLHUP
    if (count == 0 || errno != EINTR) return false;
  }
}

}  // namespace rlock
