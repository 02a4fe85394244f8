#pragma once

#include <cstddef>
#include <string_view>

#include "base/time.h"

namespace rlock {

/// A progress line on stderr, for a waiting user: only on a terminal, not with -q, and only after a second.
/// The destructor removes the line.
class ProgressLine {
 public:
  explicit ProgressLine(TimePoint now);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Replaces the line by `text`, which must be sanitized and shorter than a line. Does nothing if it is
  /// called more often than people can read.
  void show(std::string_view text, TimePoint now);

 private:
  void write(std::string_view text);

  TimePoint next_;         ///< when the line may be shown next
  std::size_t width_ = 0;  ///< width of the shown text; 0: none
};

}  // namespace rlock
