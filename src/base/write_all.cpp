#include "base/write_all.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <thread>

#include "base/blocking.h"
#include "base/descriptor.h"

namespace rlock {
namespace {

/// The pause between two looks whether the patience is over, while a pipe or a terminal takes nothing.
constexpr Milliseconds kLookAgain{100};

/// The pause between two tries to write, if a terminal has too little room.
constexpr Milliseconds kNonBlockingPause{10};

/// A terminal that is writable may still block a write, and no signal would end it. So this opens the terminal of `fd`
/// once more, for writes that do not block. Empty: it is none, or it cannot be opened.
Descriptor terminal_of(int fd) noexcept {
  if (::isatty(fd) == 0) return {};
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return Descriptor{::open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
}

}  // namespace

int write_all(int fd, std::string_view text, const Patience& patience) noexcept {
  const Descriptor terminal = terminal_of(fd);
  if (terminal) fd = terminal.number();
  while (!text.empty()) {
    const bool ready = wait_until_ready(fd, POLLOUT, earliest(patience.until, within(kLookAgain).until));
    const std::string_view piece = text.substr(0, PIPE_BUF);  // a writable pipe takes this much at once
    const ssize_t written = ready ? ::write(fd, piece.data(), piece.size()) : 0;
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno != EAGAIN && errno != EINTR) return errno;
    if (patience.interrupted()) return EINTR;
    if (has_passed(patience.until)) return ETIMEDOUT;
    if (ready) std::this_thread::sleep_for(kNonBlockingPause);
  }
  return 0;
}

}  // namespace rlock
