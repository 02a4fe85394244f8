#pragma once

namespace rlock {

/// Closes every open descriptor from `first` to `last`. If close_range(2) is missing (before Linux 5.9) or refused,
/// it closes those that /proc names. It does not try all numbers, because a container may allow a billion.
void close_range(unsigned first, unsigned last) noexcept;

}  // namespace rlock
