#pragma once

#include <algorithm>
#include <string_view>

namespace rlock {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// False for an empty text. The digits may be more than any integer type holds.
constexpr bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

constexpr bool is_letter_or_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace rlock
