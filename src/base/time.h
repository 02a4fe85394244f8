#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace rlock {

using Milliseconds = std::chrono::milliseconds;

/// CLOCK_BOOTTIME: runs on while the machine sleeps, and nobody can set it.
/// The only clock of this program; the server's own time never meets it.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

using TimePoint = Clock::time_point;

constexpr TimePoint kNever = TimePoint::max();

/// `from` + `delay`, or kNever where that lies beyond what a TimePoint can say.
TimePoint plus(TimePoint from, Milliseconds delay) noexcept;

/// What is left until `until`, rounded up to whole milliseconds, at least 0.
Milliseconds remaining(TimePoint until, TimePoint now) noexcept;

/// What has passed since `since`, rounded up to whole milliseconds, at least 0.
inline Milliseconds elapsed(TimePoint since, TimePoint now) noexcept { return remaining(now, since); }

inline TimePoint earliest(TimePoint a, TimePoint b) noexcept { return a < b ? a : b; }

/// Does somebody want us to wait no longer?
using Interrupted = std::function<bool()>;

/// How long we wait, and what makes us stop sooner. A parameter of everything that waits, never a default.
struct Patience {
  TimePoint until;
  Interrupted interrupted = [] { return false; };

  bool ended(TimePoint now) const { return now >= until || interrupted(); }
};

/// A patience of its own, counted from now, that nothing cuts short.
Patience within(Milliseconds duration);

/// Reads "500ms", "30", "1m30s", ".5s", "010s": a number and a unit (ms s sec m min h
/// d w), or several; a bare number is seconds. Whole milliseconds, rounded up. Zero is
/// read as zero: whether it is allowed is the caller's business. Locale never matters.
/// Throws Error{usage} for anything else (negative, exponent, nan, unknown unit, more than kLongest);
/// the text says what is wrong with the value and not which option it stood in.
Milliseconds parse_duration(std::string_view text);

/// The longest duration that parse_duration takes: 3650 days.
constexpr Milliseconds kLongest = std::chrono::hours{24 * 3650};

/// For people: "350ms", "14.4s", "12m03s", "3h05m", "2d04h".
std::string describe(Milliseconds duration);

/// For people who will type it again: exact, and read back by parse_duration ("2m5s", "1500ms").
std::string exact(Milliseconds duration);

}  // namespace rlock
