#pragma once

#include <string_view>

namespace rlock::test {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace rlock::test
