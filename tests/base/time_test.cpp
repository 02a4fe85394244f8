#include "base/time.h"

#include <doctest/doctest.h>
#include <time.h>

#include <array>
#include <clocale>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "support/contains.h"
#include "support/dice.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// The message with which parse_duration() refuses `text`.
std::string refusal(std::string_view text) {
  try {
    return "read as " + std::to_string(parse_duration(text).count());
  } catch (const Error& error) {
    CHECK(error.kind() == Error::usage);
    return error.what();
  }
}

__extension__ typedef __int128 Wide;

}  // namespace

TEST_CASE("a duration is a number and a unit, or several, or seconds") {
  const std::vector<std::pair<std::string, Milliseconds>> table{
      {"500ms", 500ms},
      {"30", 30s},
      {"1m30s", 90s},
      {".5s", 500ms},
      {"010s", 10s},
      {"1.5", 1500ms},
      {"1.5h", 90min},
      {"1h30m", 90min},
      {"2d4h", 52h},
      {"0", 0ms},
      {"0s", 0ms},
      {"0.0ms", 0ms},
      {"007", 7s},
      {"1d1h1m1s1ms", 24h + 1h + 1min + 1s + 1ms},
      {".5", 500ms},
      {"1m.5s", 60500ms},
      {"90m", 90min},
      {"3650d", kLongest},
      {"0000000000000000000000001s", 1s},
      {"5min", 5min},
      {"5sec", 5s},
      {"1w", 7 * 24h},
      {"1min30sec", 90s},
      {"1.5min", 90s},
      {"2w1d", 15 * 24h},
  };
  for (const auto& [text, meaning] : table) {
    CAPTURE(text);
    CHECK(parse_duration(text) == meaning);
  }
}

TEST_CASE("a part of a millisecond counts as a whole one, however small it is") {
  CHECK(parse_duration("0.4ms") == 1ms);
  CHECK(parse_duration("1.0001ms") == 2ms);
  CHECK(parse_duration("0.0001s") == 1ms);
  CHECK(parse_duration("0.1s") == 100ms);  // 0.1 has no exact binary form
  CHECK(parse_duration("0.001s") == 1ms);
  CHECK(parse_duration("2.675s") == 2675ms);
  CHECK(parse_duration("0.5ms0.5ms") == 1ms);
  CHECK(parse_duration("0." + std::string(200, '0') + "1s") == 1ms);
  CHECK(parse_duration("1." + std::string(200, '0') + "s") == 1s);
}

TEST_CASE("a text that is not a duration is refused, and not guessed") {
  for (const char* text :
       {"1e3",  "1e-9s", "nan",    "inf",   "-inf",    "infinity", "0x10", "1_000", "10 s", " 10s",
        "10s ", "10S",   "10secs", "10M",   "10m5",    "1s.",      "1.",   ".",     ".s",   "s",
        "ms",   "1..5s", "1.5.5s", "1,5s",  "+1",      "1W",       "1y",   "10us",  "10µs", "１０s",
        "1m s", "--5",   "5-",     "1m-5s", "forever", "\n",       "1\n",  "1s\n"}) {
    CAPTURE(text);
    CHECK_FALSE(contains(refusal(text), "read as"));
  }
  CHECK_FALSE(contains(refusal(std::string_view{"1\0s", 3}), "read as"));
  CHECK(refusal("") == "an empty duration: write a number and ms, s, m, h, d or w, such as 30s");
  CHECK(refusal("10S") ==
        "'10S' is not a duration: write a number and ms, s, m, h, d or w, such as 500ms, 30s or 1m30s");
}

TEST_CASE("a negative duration is called negative") {
  for (const char* text : {"-1s", "-0", "-5"}) {
    CAPTURE(text);
    CHECK(contains(refusal(text), "is negative"));
  }
}

TEST_CASE("a duration beyond ten years is refused with the limit, and never overflows") {
  for (const char* text : {"3651d", "3650d1ms", "9223372036854775807ms", "9223372036854775808ms",
                           "99999999999999999999s", "18446744073709551616", "3650d3650d",
                           "999999999999999999999999999999999999999999999999d", "315360000000.1ms"}) {
    CAPTURE(text);
    CHECK(contains(refusal(text), "is too long: the longest duration is 3650d"));
  }
}

TEST_CASE("a refused duration is shown without the bytes that a terminal would obey") {
  const std::string text = refusal("1\x1b[2J");
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK(contains(text, "\\x1b"));
}

TEST_CASE("the locale does not matter") {
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL,
                   locale);  // if the locale is unknown, the checks hold without it
    CHECK(parse_duration("1.5s") == 1500ms);
    CHECK(describe(1500ms) == "1.5s");
    CHECK_THROWS_AS(parse_duration("1,5s"), Error);
  }
  std::setlocale(LC_ALL, "C");
}

TEST_CASE("durations agree with arithmetic in 128 bits") {
  struct Unit {
    const char* name;
    std::int64_t milliseconds;
  };
  const std::array<Unit, 5> units{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
  constexpr std::int64_t kScale = 1'000'000'000'000;

  Dice dice{20240607};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    Wide exactly = 0;
    for (std::size_t parts = 1 + dice.below(4); parts > 0; --parts) {
      const Unit& unit = dice.pick(units);
      const std::size_t whole = dice.below(dice.coin() ? 4 : 1200);
      std::string decimals = dice.text("0123456789", 12);
      text += std::string(dice.below(3), '0') + std::to_string(whole);
      if (!decimals.empty()) text += "." + decimals;
      text += unit.name;
      decimals.resize(12, '0');
      exactly += (static_cast<Wide>(whole) * kScale + std::stoll(decimals)) * unit.milliseconds;
    }
    CAPTURE(text);
    const auto rounded_up = static_cast<std::int64_t>((exactly + kScale - 1) / kScale);
    if (rounded_up > kLongest.count()) {
      CHECK_THROWS_AS(parse_duration(text), Error);
    } else {
      CHECK(parse_duration(text).count() == rounded_up);
    }
  }
}

TEST_CASE("an exact duration is read back as it was") {
  CHECK(exact(0ms) == "0s");
  CHECK(exact(1500ms) == "1500ms");
  CHECK(exact(60s) == "60s");
  CHECK(exact(90s) == "90s");
  CHECK(exact(125s) == "2m5s");
  CHECK(exact(2h) == "2h");
  CHECK(exact(26h + 30min) == "1d2h30m");
  CHECK(exact(kLongest) == "3650d");

  Dice dice{7};
  for (int round = 0; round < 5000; ++round) {
    const Milliseconds duration{dice.below(dice.coin() ? 10'000 : 400'000'000) * (dice.coin() ? 1 : 1000)};
    if (duration > kLongest) continue;
    CAPTURE(duration.count());
    CHECK(parse_duration(exact(duration)) == duration);
  }
}

TEST_CASE("a duration is described as people say it") {
  const std::vector<std::pair<Milliseconds, std::string>> table{
      {-1s, "0s"},        {0ms, "0s"},          {1ms, "1ms"},
      {350ms, "350ms"},   {999ms, "999ms"},     {1s, "1s"},
      {14400ms, "14.4s"}, {14440ms, "14.4s"},   {9960ms, "10s"},
      {30s, "30s"},       {59940ms, "59.9s"},   {59960ms, "1m"},
      {60s, "1m"},        {61s, "1m01s"},       {723s, "12m03s"},
      {3599600ms, "1h"},  {3h + 5min, "3h05m"}, {3h + 5min + 59s, "3h05m"},
      {52h, "2d04h"},     {48h, "2d"},
  };
  for (const auto& [duration, text] : table) {
    CAPTURE(duration.count());
    CHECK(describe(duration) == text);
  }
}

TEST_CASE("the clock runs on while the machine sleeps") {
  const auto seconds = [](clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  };
  const double before = seconds(CLOCK_BOOTTIME);
  const double ours = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  CHECK(ours >= before - 1e-6);
  CHECK(ours <= seconds(CLOCK_BOOTTIME) + 1e-6);
}

TEST_CASE("a time that would lie beyond the largest time is kNever") {
  const TimePoint now = Clock::now();
  CHECK(plus(now, 5s) == now + 5s);
  CHECK(plus(now, 0ms) == now);
  CHECK(plus(now, -5s) == now - 5s);
  CHECK(plus(now, Milliseconds::max()) == kNever);
  CHECK(plus(kNever, 1ms) == kNever);
  CHECK(plus(kNever, 0ms) == kNever);
  CHECK(plus(now, kLongest) < kNever);
}

TEST_CASE("the remaining time is never negative, and never rounded to zero") {
  const TimePoint now = Clock::now();
  CHECK(remaining(now + 5s, now) == 5s);
  CHECK(remaining(now + 1ns, now) == 1ms);
  CHECK(remaining(now, now) == 0ms);
  CHECK(remaining(now - 5s, now) == 0ms);
  CHECK(remaining(kNever, now) > kLongest);
  CHECK(earliest(now, kNever) == now);
}

TEST_CASE("a patience ends with its time, or when it is interrupted") {
  CHECK_FALSE(within(1h).ended(Clock::now()));
  CHECK(within(0ms).ended(Clock::now()));
  CHECK(within(Milliseconds::max()).until == kNever);
  CHECK(Patience{.until = kNever, .interrupted = [] { return true; }}.ended(Clock::now()));
}
