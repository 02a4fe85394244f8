#include "base/percent.h"

#include "base/ascii.h"
#include "base/text.h"

namespace rlock {

bool is_unreserved(char c) {
  return is_letter_or_digit(c) || std::string_view{"-._~"}.find(c) != std::string_view::npos;
}

bool is_path_character(char c) {
  return is_unreserved(c) || std::string_view{"/:@,+="}.find(c) != std::string_view::npos;
}

std::string percent_encoded(std::string_view text, bool (*kept)(char)) {
  std::string encoded;
  for (const char c : text) encoded += kept(c) ? std::string(1, c) : "%" + to_hex({&c, 1});
  return encoded;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const auto byte = from_hex(text.substr(i + 1, 2));  // near the end, substr() returns less
    if (!byte || byte->empty()) return std::nullopt;
    decoded += *byte;
    i += 2;
  }
  return decoded;
}

}  // namespace rlock
