#include "base/log.h"

#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <new>

#include "base/redaction.h"
#include "base/writable.h"

namespace rlock {
namespace {

constexpr std::string_view kName = "rlock: ";

// Globals, because stderr is one too: destructors, sources and the guardian log without a logger. They affect only
// the output.
Verbosity level = Verbosity::normal;
TimePoint start{};

/// If the reader of our stderr does not read, we drop the line after this time, because a holder must not be delayed.
constexpr Milliseconds kStderrPatience{100};

/// Was the last line dropped because the reader did not read? Then the next line does not wait.
bool stuck = false;

/// Writes a line of up to PIPE_BUF bytes in one call. A pipe takes these as a whole, so the lines of two processes do
/// not mix. A longer line is written in pieces.
void write_line(std::string_view text, std::string_view name = kName) noexcept {
  constexpr std::string_view kEnd = "\n";
  const auto part = [](std::string_view bytes) {
    return iovec{const_cast<char*>(bytes.data()), bytes.size()};
  };

  const TimePoint until = within(stuck ? Milliseconds::zero() : kStderrPatience).until;
  for (bool done = false; !done;) {
    const auto piece = text.substr(0, PIPE_BUF - name.size() - kEnd.size());
    done = piece.size() == text.size();
    const std::array<iovec, 3> line{part(name), part(piece), part(done ? kEnd : std::string_view{})};

    stuck = !writable(STDERR_FILENO, until);
    if (stuck) return;
    ssize_t written = 0;
    do written = ::writev(STDERR_FILENO, line.data(), static_cast<int>(line.size()));
    while (written < 0 && errno == EINTR);
    if (written < 0) return;  // a closed stderr is no reason to stop
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

void warn(std::string_view text) noexcept { write_redacted(text); }

void info(std::string_view text) noexcept {
  if (level != Verbosity::quiet) warn(text);
}

void debug(std::string_view text) noexcept {
  if (level != Verbosity::verbose) return;
  char name[48];
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const int size = std::snprintf(name, sizeof name, "%s+%.3fs ", kName.data(), seconds);
  write_redacted(text, {name, static_cast<std::size_t>(size)});
}

}  // namespace rlock
