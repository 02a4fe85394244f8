#pragma once

#include <string_view>

#include "base/time.h"

namespace rlock {

/// A line on stderr that says how far something has come, for a person who waits for it: on a terminal only,
/// not with -q, and only when it takes longer than a second. It is gone when this ends.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows `text`, sanitized and shorter than a line, instead of the one before; not more often than a person
  /// can read.
  void show(std::string_view text);

 private:
  void write(std::string_view text);

  TimePoint next_;         ///< when it may be shown
  std::size_t width_ = 0;  ///< of what is shown; 0: nothing
};

}  // namespace rlock
