#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstring>

#include "base/ascii.h"
#include "base/redaction.h"

namespace rlock {
namespace {

/// The number at the beginning of a text, or else its first byte.
std::string_view natural_piece(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  return text.substr(0, std::max<std::size_t>(size, 1));
}

/// Compares two numbers of any length by value, and any other pieces by their first byte.
std::strong_ordering compare_pieces(std::string_view a, std::string_view b) {
  if (!is_digit(a.front()) || !is_digit(b.front()))
    return static_cast<unsigned char>(a.front()) <=> static_cast<unsigned char>(b.front());
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

/// The first character of some bytes: its code point and length. If they do not begin with valid UTF-8, it is one
/// invalid byte.
struct Character {
  char32_t code = 0;
  std::size_t length = 1;
  bool valid = false;
};

Character first_character(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};

  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length) return {};
  char32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3f);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {code, length, true};
}

/// Would a terminal obey it, or show the following text in another place?
bool is_harmful(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const bool bidirectional = code == 0x61c || code == 0x200e || code == 0x200f ||
                             (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  const bool separator = code == 0x2028 || code == 0x2029;
  return control || bidirectional || separator;
}

void append_escaped(std::string& text, std::string_view bytes) {
  for (char c : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::string sanitized(std::string_view foreign, std::size_t limit) {
  const std::string bytes = redacted(foreign);
  std::string text;
  std::size_t shown = 0;
  while (shown < bytes.size()) {
    const Character next = first_character(std::string_view{bytes}.substr(shown));
    if (shown + next.length > limit) return redacted(text) + "...";
    const auto raw = std::string_view{bytes}.substr(shown, next.length);
    if (!next.valid || is_harmful(next.code)) {
      append_escaped(text, raw);
    } else {
      text += raw;
    }
    shown += next.length;
  }
  // Again, because an escaped line break does not end a URL any more: more of the text may be its password.
  return redacted(text);
}

bool is_harmless(std::string_view bytes) {
  while (!bytes.empty()) {
    const Character next = first_character(bytes);
    if (!next.valid || is_harmful(next.code)) return false;
    bytes.remove_prefix(next.length);
  }
  return true;
}

std::string in_quotes(std::string_view bytes) { return "'" + sanitized(bytes) + "'"; }

std::string escaped(std::string_view bytes, std::string_view special) {
  std::string text;
  for (const char c : bytes) {
    if (special.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string utf8(std::string_view bytes) {
  const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
  if (std::ranges::all_of(bytes, is_ascii)) return std::string{bytes};  // most texts
  std::string text;
  while (!bytes.empty()) {
    const Character next = first_character(bytes);
    text += next.valid ? bytes.substr(0, next.length) : std::string_view{"\xef\xbf\xbd"};
    bytes.remove_prefix(next.length);
  }
  return text;
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  if (text.empty() || text.front() == '-') return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (!text.starts_with('-')) return parse_count(text);
  const auto number = parse_count(text.substr(1));
  return number ? std::optional{-*number} : std::nullopt;
}

bool before_in_natural_order(std::string_view one, std::string_view other) {
  std::string_view left = one, right = other;
  while (!left.empty() && !right.empty()) {
    const std::string_view a = natural_piece(left), b = natural_piece(right);
    if (const auto order = compare_pieces(a, b); order != 0) return order < 0;
    left.remove_prefix(a.size());
    right.remove_prefix(b.size());
  }
  if (left.empty() != right.empty()) return left.empty();
  return one < other;  // such as "7" and "007"
}

std::string lower_first(std::string text) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const bool abbreviation = text.size() > 1 && is_capital(text[1]);
  if (!abbreviation && !text.empty() && is_capital(text[0])) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string errno_text(int error) { return lower_first(std::strerror(error)); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (;;) {
    const auto end = text.find(separator);
    words.emplace_back(text.substr(0, end));
    if (end == text.npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += separator;
    text += word;
  }
  return text;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned int byte = 0;
    const char* end = text.data() + i + 2;
    const auto read = std::from_chars(text.data() + i, end, byte, 16);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 3))) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i)
      three = three << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= bytes.size() ? kDigits[three >> (18 - 6 * i) & 0x3f] : '=';
  }
  return text;
}

std::string shell_quoted(std::string_view foreign) { return shell_word(redacted(foreign)); }

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "_-./:@%+,=";
  const auto plain = [&](char c) { return is_letter_or_digit(c) || kPlain.find(c) != kPlain.npos; };
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  // zsh replaces a word such as =name by the path of the command.
  if (!word.empty() && word.front() != '=' && std::ranges::all_of(word, plain)) return std::string{word};
  const bool simple = std::ranges::all_of(word, printable);
  std::string out = simple ? "'" : "$'";
  for (const char c : word) {
    if (c == '\'') {
      out += simple ? "'\\''" : "\\'";
    } else if (!printable(c)) {
      out += "\\x" + to_hex({&c, 1});
    } else {
      out += !simple && c == '\\' ? "\\\\" : std::string(1, c);
    }
  }
  return out + "'";
}

}  // namespace rlock
