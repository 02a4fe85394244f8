#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// Foreign bytes, made harmless for a terminal or a log line. Passwords become *** (see redacted()). C0, DEL,
/// C1 (as UTF-8 and as raw bytes), bidirectional controls, line and paragraph separators and invalid UTF-8 become
/// \xNN. At most `limit` bytes are shown, counted before they become \xNN; "..." marks a cut.
std::string sanitized(std::string_view foreign, std::size_t limit = 300);

/// Is it valid UTF-8 without characters that sanitized() would replace by \xNN?
bool is_harmless(std::string_view bytes);

/// sanitized(), in single quotes: 'deploy'.
std::string in_quotes(std::string_view bytes);

/// One word for a shell (bash, zsh, ksh), ready to paste: deploy, 'a b', $'a\x0ab'. Passwords become *** (see
/// redacted()).
std::string shell_quoted(std::string_view foreign);

/// shell_quoted() for a text without a password, such as a server's URL with its user.
std::string shell_word(std::string_view word);

/// `bytes` with a backslash before each character of `special`.
std::string escaped(std::string_view bytes, std::string_view special);

/// Valid UTF-8 for JSON: invalid bytes become U+FFFD. It never fails.
std::string utf8(std::string_view bytes);

/// The value if the whole text is a decimal integer without sign or blanks. Empty if it is not, or is too
/// large.
std::optional<std::int64_t> parse_count(std::string_view text);

/// parse_count() with an optional minus sign.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Does `one` come before `other` in an order for people? Numbers in a text count as numbers, so job-2 comes
/// before job-10. It is a strict order of all texts.
bool before_in_natural_order(std::string_view one, std::string_view other);

/// Base64 of RFC 4648, padded.
std::string to_base64(std::string_view bytes);

/// The text with a small first letter, unless it begins with an abbreviation, such as "RFS specific error".
std::string lower_first(std::string text);

/// The system's text for an errno within a sentence about a server: "connection refused". Messages about files and
/// processes end with std::strerror(), as other programs print it.
std::string errno_text(int error);

/// What stands behind the last slash of a path.
inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> split(std::string_view text, char separator);
std::string joined(const std::vector<std::string>& words, std::string_view separator);

/// What `make` makes of each item, with the separator between.
template <class Items, class Make>
std::string joined(const Items& items, std::string_view separator, Make make) {
  std::string text;
  for (const auto& item : items) {
    if (&item != &*std::begin(items)) text += separator;
    text += std::invoke(make, item);
  }
  return text;
}

/// "1 permit", "3 permits".
std::string counted(std::int64_t number, std::string_view noun);

/// Lower-case hexadecimal, and back (empty if `text` is not an even number of hexadecimal digits).
std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

}  // namespace rlock
