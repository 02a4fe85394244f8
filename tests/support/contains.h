#pragma once

#include <cstddef>
#include <string_view>

namespace rlock::test {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// How often `part` stands in `text`; two of them may overlap.
inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The number of line ends.
inline std::size_t lines_in(std::string_view text) { return occurrences(text, "\n"); }

}  // namespace rlock::test
