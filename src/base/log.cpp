#include "base/log.h"

#include <limits.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <new>

#include "base/redaction.h"

namespace rlock {
namespace {

constexpr std::string_view kName = "rlock: ";

// Globals, as stderr itself is: destructors, sources and the guardian log without being handed a logger. main() and
// the options set them before the first line; nothing that is decided depends on them.
Verbosity level = Verbosity::normal;
TimePoint start = Clock::now();

/// How long a reader of our stderr may sleep before we go on without it: whoever holds a lock has better
/// things to do.
constexpr Milliseconds kStderrPatience{100};

/// The reader slept through the last line: the next one does not wait for it again.
bool stuck = false;

/// Is there room for PIPE_BUF bytes, or will there be before `until`?
bool writable(TimePoint until) noexcept {
  for (;;) {
    pollfd stderr_now{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    const int count = ::poll(&stderr_now, 1, static_cast<int>(remaining(until, Clock::now()).count()));
    if (count > 0) return true;  // also for POLLERR: write() then says what is wrong
    if (count == 0 || errno != EINTR) return false;
  }
}

/// All of a line at once, so that the lines of two processes do not mix: a pipe takes up to PIPE_BUF bytes as
/// a whole.
void write_line(std::string_view text, std::string_view name = kName) noexcept {
  constexpr std::string_view kEnd = "\n";
  const auto part = [](std::string_view bytes) {
    return iovec{const_cast<char*>(bytes.data()), bytes.size()};
  };

  const TimePoint until = plus(Clock::now(), stuck ? Milliseconds::zero() : kStderrPatience);
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

void write_redacted(std::string_view text, std::string_view name = kName) noexcept {
  try {
    write_line(redacted_line(text), name);
  } catch (const std::bad_alloc&) {
    write_line("out of memory");
  }
}

}  // namespace

void set_verbosity(Verbosity verbosity) noexcept { level = verbosity; }
Verbosity verbosity() noexcept { return level; }
void set_log_start(TimePoint started) noexcept { start = started; }

void complain(std::string_view text) noexcept { write_redacted(text); }

void tell(std::string_view text) noexcept {
  if (level != Verbosity::quiet) complain(text);
}

void mention(std::string_view text) noexcept {
  if (level != Verbosity::verbose) return;
  char name[48];
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const int size = std::snprintf(name, sizeof name, "%s+%.3fs ", kName.data(), seconds);
  write_redacted(text, {name, static_cast<std::size_t>(size)});
}

}  // namespace rlock
