#pragma once

#include <functional>

namespace rlock {

/// Does `work` in a background process, so that a caller of this process does not wait for `work`. The
/// background process owns our sockets and our loop now, so this one must not use them any more. It has its
/// own session, no standard streams, no inherited descriptors, and default signals.
///
/// Returns false if the process cannot be started.
/// REQUIRES: `work` has a deadline.
[[nodiscard]] bool finish_behind(const std::function<void()>& work) noexcept;

}  // namespace rlock
