#pragma once

#include <functional>

namespace rlock {

/// Does `work` in a process of its own, while this one goes on to its end: nobody who waits for that waits
/// for `work`. The process has our sockets and our loop, so this one must not use them any more. It has a
/// session of its own, no standard stream, nothing that we inherited, and default signals.
///
/// False: there can be no other process.
/// REQUIRES: `work` has a deadline.
[[nodiscard]] bool finish_behind(const std::function<void()>& work) noexcept;

}  // namespace rlock
