#pragma once

namespace rlock {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_letter_or_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace rlock
