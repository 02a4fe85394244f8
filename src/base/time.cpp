#include "base/time.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>

#include "base/ascii.h"
#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

using namespace std::chrono_literals;

__extension__ typedef __int128 Wide;

/// Durations are summed in 10^-18 ms: a day with 18 decimals is still exact.
constexpr int kDecimals = 18;
constexpr Wide kOne = 1'000'000'000'000'000'000;

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

/// The first five are those that we write, in order of length.
constexpr std::array<Unit, 8> kUnits{{{"ms", 1},
                                      {"s", 1000},
                                      {"m", 60'000},
                                      {"h", 3'600'000},
                                      {"d", 86'400'000},
                                      {"sec", 1000},
                                      {"min", 60'000},
                                      {"w", 604'800'000}}};
constexpr std::span<const Unit> kWrittenUnits = std::span{kUnits}.first(5);
constexpr const Unit& kSecond = kUnits[1];

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error{Error::usage, fmt::format("{} {}", in_quotes(text), why)};
}

[[noreturn]] void refuse_junk(std::string_view text) {
  refuse(text, "is not a duration: write a number and ms, s, m, h, d or w, such as 500ms, 30s or 1m30s");
}

[[noreturn]] void refuse_length(std::string_view text) {
  refuse(text, fmt::format("is too long: the longest duration is {}", exact(kLongest)));
}

/// Removes the digits from the front of `rest`, and returns them.
std::string_view take_digits(std::string_view& rest) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  const auto digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

/// Removes the unit from the front of `rest`, and returns it; null if there is none.
const Unit* take_unit(std::string_view& rest) {
  const auto is_letter = [](char c) { return !is_digit(c) && c != '.'; };
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_letter);
  const auto name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == kUnits.end()) return nullptr;
  rest.remove_prefix(name.size());
  return &*unit;
}

/// The value of "25" in "1.25" as a part of kOne, rounded up.
Wide fraction(std::string_view decimals) {
  Wide sum = 0, place = kOne;
  for (char c : decimals.substr(0, kDecimals)) {
    place /= 10;
    sum += (c - '0') * place;
  }
  const auto rest = decimals.substr(std::min<std::size_t>(decimals.size(), kDecimals));
  return sum + (rest.find_first_not_of('0') != rest.npos ? 1 : 0);
}

}  // namespace

Clock::time_point Clock::now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
}

TimePoint plus(TimePoint from, Milliseconds delay) noexcept {
  const auto room = std::chrono::floor<Milliseconds>(kNever - from);
  return delay > Milliseconds::zero() && delay >= room ? kNever : from + delay;
}

Milliseconds remaining(TimePoint until, TimePoint now) noexcept {
  if (until <= now) return Milliseconds::zero();
  return std::chrono::ceil<Milliseconds>(until - now);
}

Patience within(Milliseconds duration) { return {.until = plus(Clock::now(), duration)}; }

Milliseconds parse_duration(std::string_view text) {
  if (text.empty())
    throw Error{Error::usage, "an empty duration: write a number and ms, s, m, h, d or w, such as 30s"};
  if (text.front() == '-') refuse(text, "is negative");

  Wide sum = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const bool first = rest.size() == text.size();
    const auto digits = take_digits(rest);
    std::string_view decimals;
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      decimals = take_digits(rest);
      if (decimals.empty()) refuse_junk(text);
    } else if (digits.empty()) {
      refuse_junk(text);
    }

    const bool bare = first && rest.empty();  // "30" means seconds, but "1m30" is ambiguous
    const Unit* unit = bare ? &kSecond : take_unit(rest);
    if (unit == nullptr) refuse_junk(text);

    std::uint64_t whole = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
    const auto most = static_cast<std::uint64_t>(kLongest.count() / unit->milliseconds);
    if (read.ec == std::errc::result_out_of_range || whole > most) refuse_length(text);

    sum += (static_cast<Wide>(whole) * kOne + fraction(decimals)) * unit->milliseconds;
    if (sum > kLongest.count() * kOne) refuse_length(text);
  }
  return Milliseconds{static_cast<std::int64_t>((sum + kOne - 1) / kOne)};
}

std::string describe(Milliseconds duration) {
  const auto two = [](std::int64_t big, char unit, std::int64_t small, char part) {
    return small == 0 ? fmt::format("{}{}", big, unit) : fmt::format("{}{}{:02}{}", big, unit, small, part);
  };
  const std::int64_t ms = std::max<std::int64_t>(duration.count(), 0);
  if (ms == 0) return "0s";
  if (ms < 1000) return fmt::format("{}ms", ms);

  const std::int64_t tenths = (ms + 50) / 100;
  if (tenths < 600)
    return tenths % 10 == 0 ? fmt::format("{}s", tenths / 10)
                            : fmt::format("{}.{}s", tenths / 10, tenths % 10);
  const std::int64_t seconds = (ms + 500) / 1000;
  if (seconds < 3600) return two(seconds / 60, 'm', seconds % 60, 's');
  const std::int64_t minutes = seconds / 60;
  if (minutes < 24 * 60) return two(minutes / 60, 'h', minutes % 60, 'm');
  return two(minutes / (24 * 60), 'd', minutes / 60 % 24, 'h');
}

std::string exact(Milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms % 1000 != 0) return fmt::format("{}ms", ms);
  // People say 90s and not 1m30s, but 2m5s and not 125s.
  if (ms < 120'000) return fmt::format("{}s", ms / 1000);

  std::string text;
  std::int64_t rest = ms;
  for (auto unit = kWrittenUnits.rbegin(); unit != kWrittenUnits.rend(); ++unit) {
    const std::int64_t count = rest / unit->milliseconds;
    if (count > 0) text += fmt::format("{}{}", count, unit->name);
    rest %= unit->milliseconds;
  }
  return text;
}

}  // namespace rlock
