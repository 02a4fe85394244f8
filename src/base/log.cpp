#include "base/log.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <string>

#include "base/redaction.h"
#include "base/write_all.h"

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

/// Writes a line. A pipe takes up to PIPE_BUF bytes as a whole, so short lines of two processes do not mix.
void write_line(std::string_view line) noexcept {
  stuck = write_all(STDERR_FILENO, line, within(stuck ? Milliseconds::zero() : kStderrPatience)) == ETIMEDOUT;
}

void write_redacted(std::string_view text, std::string_view name = kName) noexcept {
  try {
    write_line(std::string{name} + redacted_line(text) + "\n");
  } catch (const std::bad_alloc&) {
    write_line("rlock: out of memory\n");
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
