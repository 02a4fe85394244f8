#pragma once

#include "base/time.h"

namespace rlock {

/// Has the descriptor room for PIPE_BUF bytes before `until`? A file always has room. So has a descriptor whose reader
/// is gone: a write then reports the error. A pipe or a terminal that nobody reads may have none.
bool writable(int fd, TimePoint until) noexcept;

}  // namespace rlock
