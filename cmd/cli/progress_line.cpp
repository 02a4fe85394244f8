#include "cmd/cli/progress_line.h"

#include <unistd.h>

#include <string>

#include "base/log.h"
#include "base/write_all.h"

namespace rlock {
namespace {

/// A shorter wait needs no progress line.
constexpr Milliseconds kSilence{1000};

constexpr Milliseconds kPause{200};

}  // namespace

ProgressLine::ProgressLine(TimePoint now)
    : next_(::isatty(STDERR_FILENO) != 0 && verbosity() != Verbosity::quiet ? plus(now, kSilence) : kNever) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) write("");
}

void ProgressLine::show(std::string_view text, TimePoint now) {
  if (now < next_) return;
  next_ = plus(now, kPause);
  write(text);
}

/// Overwrites the rest of a longer line with blanks, because some terminals do not know ECMA-48.
void ProgressLine::write(std::string_view text) {
  std::string line = "\r" + std::string{text};
  if (width_ > text.size()) line += std::string(width_ - text.size(), ' ');
  if (text.empty()) line += "\r";
  // If the terminal takes nothing, the line is left out: it is only decoration.
  static_cast<void>(write_all(STDERR_FILENO, line, {.until = TimePoint::min()}));
  width_ = text.size();
}

}  // namespace rlock
