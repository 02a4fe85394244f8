#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace rlock::test {

/// The value in the middle. REQUIRES: there is one.
template <class Value>
Value median(std::vector<Value> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// "median 12 ms, longest 31 ms of 15". REQUIRES: there is one time.
inline std::string figures(const std::vector<std::chrono::milliseconds>& times) {
  return fmt::format("median {} ms, longest {} ms of {}", median(times).count(),
                     std::ranges::max(times).count(), times.size());
}

}  // namespace rlock::test
