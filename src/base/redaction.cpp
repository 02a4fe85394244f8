#include "base/redaction.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"

namespace rlock {
namespace {

constexpr std::string_view kHidden = "***";

/// A password that is shorter than this occurs in many texts by chance.
constexpr std::size_t kLeastPart = 4;

/// A longer password is recognized by this many bytes at its beginning, because servers cut long words when they
/// repeat them.
constexpr std::size_t kKnownBy = 16;

/// A global, because messages in every layer may contain a password. It only grows. Longer passwords come first:
/// otherwise a password that is the beginning of another one would leave the rest of that one visible.
std::vector<std::string>& passwords() {
  static std::vector<std::string> all;
  return all;
}

bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
  return (at == 0 || !is_letter_or_digit(text[at - 1])) &&
         (at + size == text.size() || !is_letter_or_digit(text[at + size]));
}

bool could_be_our_word(std::string_view password) {
  return password.size() < kLeastPart ||
         std::ranges::all_of(password, [](char c) { return c >= 'a' && c <= 'z'; });
}

void hide(std::string& text, std::string_view password) {
  const std::string_view begin = password.substr(0, kKnownBy);
  std::size_t at = text.find(begin);
  while (at != std::string::npos) {
    const auto rest = std::string_view{text}.substr(at);
    const auto size = static_cast<std::size_t>(std::ranges::mismatch(rest, password).in1 - rest.begin());
    const bool found = password.size() >= kLeastPart || stands_alone(text, at, size);
    if (found) text.replace(at, size, kHidden);
    at = text.find(begin, at + (found ? kHidden.size() : 1));
  }
}

enum class LoneUser { stays, is_hidden };

/// Hides the text between "://" and the last '@' before a blank, because a password may contain an '@' that should
/// have been encoded. A text without a colon is a user without a password, and may stay visible.
void hide_in_urls(std::string& text, LoneUser lone_user) {
  constexpr std::string_view kMark = "://";
  constexpr std::string_view kBlanks = " \t\r\n";
  std::size_t at = text.find(kMark);
  while (at != std::string::npos) {
    at += kMark.size();
    const std::string_view rest = std::string_view{text}.substr(at, text.find_first_of(kBlanks, at) - at);
    const std::size_t size = rest.rfind('@');
    const bool hides = size != rest.npos &&
                       (lone_user == LoneUser::is_hidden || rest.substr(0, size).find(':') != rest.npos);
    if (hides) text.replace(at, size, kHidden);
    at = text.find(kMark, at);
  }
}

}  // namespace

void keep_secret(std::string_view password) {
  if (password.empty() || std::ranges::find(passwords(), password) != passwords().end()) return;
  passwords().emplace_back(password);
  std::ranges::sort(passwords(), std::ranges::greater{}, &std::string::size);
}

std::string redacted(std::string_view foreign) {
  std::string text{foreign};
  for (const std::string& password : passwords()) hide(text, password);
  hide_in_urls(text, LoneUser::is_hidden);
  return text;
}

std::string redacted_line(std::string_view line) {
  std::string text{line};
  for (const std::string& password : passwords()) {
    if (!could_be_our_word(password)) hide(text, password);
  }
  hide_in_urls(text, LoneUser::stays);
  return text;
}

}  // namespace rlock
