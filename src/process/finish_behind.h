#pragma once

#include <functional>

namespace rlock {

/// Does `work` in a background process, so that a caller of this process does not wait for `work`. From then on
/// this process must not use its sockets and its loop, because the background process uses them. That process has
/// its own session, no standard streams, no inherited descriptors, and an empty signal mask.
///
/// Returns false if the process cannot be started.
/// REQUIRES: `work` has a deadline.
[[nodiscard]] bool finish_behind(const std::function<void()>& work) noexcept;

}  // namespace rlock
