#include "numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace rlock::model {

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<double> score_in(std::string_view text) {
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "+inf" || text == "inf") return std::numeric_limits<double>::infinity();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::string score_text(double score) { return fmt::format("{:.17g}", score); }

std::string without_clock(std::string_view text, std::int64_t now) {
  constexpr std::int64_t kNear = 100'000'000'000;  // three years
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const std::size_t digits = end - at;
    const std::int64_t value =
        digits == 13 || digits == 16 ? integer_in(text.substr(at, digits)).value_or(0) : 0;
    if (digits == 13 && std::abs(value - now) < kNear) {
      result += fmt::format("<{}ms>", value - now);
    } else if (digits == 16 && std::abs(value / 1000 - now) < kNear) {
      result += fmt::format("<{}us>", value - now * 1000);
    } else {
      result += text.substr(at, std::max<std::size_t>(digits, 1));
    }
    at += std::max<std::size_t>(digits, 1);
  }
  return result;
}

}  // namespace rlock::model
