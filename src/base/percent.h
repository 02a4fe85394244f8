#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rlock {

/// Is it one of the characters that RFC 3986 calls unreserved?
bool is_unreserved(char c);

/// May it stand as it is in a path in a URL?
bool is_path_character(char c);

/// The text with %XX, in lower case, for each byte that is not `kept`.
std::string percent_encoded(std::string_view text, bool (*kept)(char));

/// The bytes that a percent-encoded text stands for; '+' stays '+'. Empty: a % without two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace rlock
