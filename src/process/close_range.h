#pragma once

#include <functional>
#include <vector>

namespace rlock {

/// Closes every open descriptor from `first` to `last`. If close_range(2) is missing (before Linux 5.9) or refused,
/// it closes those that /proc names. Without /proc, it tries the numbers below 65536, and no more, because a container
/// may allow a billion.
void close_range(unsigned first, unsigned last);

/// Closes every open descriptor but those in `kept`. Then /dev/null can take the place of the standard ones:
/// fill_std_descriptors().
void close_all_but(std::vector<int> kept);

/// Closes every open descriptor for which `unneeded` is true.
void close_if(const std::function<bool(int fd)>& unneeded);

}  // namespace rlock
