#pragma once

#include <functional>

namespace rlock {

/// Does `work` in a background process, so that a caller that waits for this process does not wait for
/// `work`. The background process has our sockets and our loop, so this one must not use them any more. It
/// has a session of its own, no standard stream, nothing that we inherited, and default signals.
///
/// Returns false if the process cannot be started.
/// REQUIRES: `work` has a deadline.
[[nodiscard]] bool finish_behind(const std::function<void()>& work) noexcept;

}  // namespace rlock
