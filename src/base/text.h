#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// Bytes that came from outside, made harmless for a terminal or a log line: passwords
/// become *** (see redacted()); C0, DEL, C1 (as UTF-8 and as raw bytes), bidirectional
/// controls, line and paragraph separators and invalid UTF-8 become \xNN.
/// At most `limit` bytes are shown; what is cut is marked by "...".
std::string sanitized(std::string_view foreign, std::size_t limit = 300);

/// Is there nothing in it that a terminal would obey, and no invalid UTF-8?
bool is_harmless(std::string_view bytes);

/// sanitized(), in single quotes: 'deploy'.
std::string in_quotes(std::string_view bytes);

/// As one word for a shell (bash, zsh, ksh), to be pasted:
/// deploy, 'a b', $'a\nb'. Passwords become *** (see redacted()).
std::string shell_quoted(std::string_view foreign);

/// The same for what is known to hold no password: the URL of a server, with the user that it needs.
std::string shell_word(std::string_view word);

/// Valid UTF-8 for JSON: bytes that are none become U+FFFD... never fails.
std::string utf8(std::string_view bytes);

/// The whole text as a decimal integer without sign, blanks
/// or anything else; nothing if it is none or too large.
std::optional<std::int64_t> parse_count(std::string_view text);

/// Whether `one` comes before `other` in an order for people: numbers in a text count as numbers, so that job-2
/// comes before job-10. A strict order of all texts.
bool before_in_natural_order(std::string_view one, std::string_view other);

/// As RFC 4648 has it, padded.
std::string to_base64(std::string_view bytes);

/// What the system calls this errno, as the end of a sentence of ours: "no such file or directory".
std::string reason(int error);

std::vector<std::string> split(std::string_view text, char separator);
std::string joined(const std::vector<std::string>& words, std::string_view separator);

/// Lower-case hexadecimal, and back (nothing if `text` is not an even number of hex digits).
std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

}  // namespace rlock
