#pragma once

#include "base/time.h"

namespace rlock {

/// Can the descriptor be written to before `until`? A pipe can if it has room for PIPE_BUF bytes. A file always can.
/// So can a descriptor whose reader is gone; a write then reports the error. A pipe or a terminal that nobody reads
/// may stay full.
bool writable(int fd, TimePoint until) noexcept;

}  // namespace rlock
