#pragma once

namespace rlock {

/// Closes every open descriptor from `first` to `last`. Where the kernel has no close_range(2) (before 5.9)
/// or a container refuses it, it closes those that /proc names: a container may allow a billion of them.
void close_range(unsigned first, unsigned last) noexcept;

}  // namespace rlock
