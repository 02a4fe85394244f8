#include "base/log.h"

#include <limits.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "base/redaction.h"
#include "base/time.h"

namespace rlock {
namespace {

Verbosity level = Verbosity::normal;

/// How long a reader of our stderr may sleep before we go on without it: whoever holds a lock has better
/// things to do.
constexpr Milliseconds kStderrPatience{100};

/// The reader slept through the last line: the next one does not wait for it again.
bool stuck = false;

/// Is there room for PIPE_BUF bytes, or will there be before `until`?
bool writable(TimePoint until) noexcept {
  for (;;) {
    pollfd stderr_now{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    const int count = ::poll(&stderr_now, 1, static_cast<int>(left(until).count()));
    if (count > 0) return true;  // also for POLLERR: write() then says what is wrong
    if (count == 0 || errno != EINTR) return false;
  }
}

/// All of a line at once, so that the lines of two processes do not mix: a pipe takes up to PIPE_BUF bytes as
/// a whole.
void write_line(std::string_view text) noexcept {
  constexpr std::string_view kName = "rlock: ";
  constexpr std::string_view kEnd = "\n";
  const auto part = [](std::string_view bytes) {
    return iovec{const_cast<char*>(bytes.data()), bytes.size()};
  };

  const TimePoint until = later(Clock::now(), stuck ? Milliseconds::zero() : kStderrPatience);
  std::string_view name = kName;
  for (bool done = false; !done;) {
    const auto piece = text.substr(0, PIPE_BUF - name.size() - kEnd.size());
    done = piece.size() == text.size();
    const std::array<iovec, 3> line{part(name), part(piece), part(done ? kEnd : std::string_view{})};

    stuck = !writable(until);
    if (stuck) return;
    ssize_t written = 0;
    do written = ::writev(STDERR_FILENO, line.data(), static_cast<int>(line.size()));
    while (written < 0 && errno == EINTR);
    if (written < 0) return;  // nobody listens any more; that is no reason to stop
    text.remove_prefix(piece.size());
    name = {};
  }
}

}  // namespace

void set_verbosity(Verbosity verbosity) noexcept { level = verbosity; }
Verbosity verbosity() noexcept { return level; }

void complain(std::string_view text) noexcept {
  try {
    write_line(redacted_line(text));
  } catch (const std::bad_alloc&) {
    write_line("out of memory");
  }
}

void tell(std::string_view text) noexcept {
  if (level != Verbosity::quiet) complain(text);
}

void mention(std::string_view text) noexcept {
  if (level == Verbosity::verbose) complain(text);
}

}  // namespace rlock
