#include "cmd/cli/progress_line.h"

#include <unistd.h>

#include <string>

#include "base/log.h"
#include "cmd/cli/output.h"

namespace rlock {
namespace {

/// A shorter wait needs no progress line.
constexpr Milliseconds kSilence{1000};

constexpr Milliseconds kPause{200};

}  // namespace

ProgressLine::ProgressLine()
    : next_(::isatty(STDERR_FILENO) != 0 && verbosity() != Verbosity::quiet ? plus(Clock::now(), kSilence)
                                                                            : kNever) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) write("");
}

void ProgressLine::show(std::string_view text) {
  const TimePoint now = Clock::now();
  if (now < next_) return;
  next_ = plus(now, kPause);
  write(text);
}

/// Blanks over what is left of the longer line before: a terminal without ECMA-48 knows them, too.
void ProgressLine::write(std::string_view text) {
  std::string line = "\r" + std::string{text};
  if (width_ > text.size()) line += std::string(width_ - text.size(), ' ');
  if (text.empty()) line += "\r";
  print_on_stderr(line);
  width_ = text.size();
}

}  // namespace rlock
