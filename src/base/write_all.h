#pragma once

#include <string_view>

#include "base/time.h"

namespace rlock {

/// Writes all of `text` to any descriptor, in pieces that a pipe takes at once. Returns 0 or the errno of the failure.
/// `patience` is for a pipe or a terminal that takes nothing, because nobody reads it. When its time is over, the
/// failure is ETIMEDOUT; when it is interrupted, EINTR. Part of the text may have been written then.
[[nodiscard]] int write_all(int fd, std::string_view text, const Patience& patience) noexcept;

}  // namespace rlock
