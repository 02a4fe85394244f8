#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace rlock {

using Milliseconds = std::chrono::milliseconds;

/// CLOCK_BOOTTIME: it also counts while the machine sleeps, and cannot be set. It is never compared with the server's
/// time. The wall clock is the only other one: it stamps events for people.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

using TimePoint = Clock::time_point;

/// The server's clock: milliseconds since the epoch. Its replies and records tell the time, and rlock never reads it.
/// Since ServerTime is a type of its own, a duration or a time of our clock cannot be taken for a time of the server.
struct ServerClock {
  using duration = Milliseconds;
};

using ServerTime = std::chrono::time_point<ServerClock, Milliseconds>;

constexpr TimePoint kNever = TimePoint::max();

/// `from` + `delay`; kNever if a TimePoint cannot hold that.
TimePoint plus(TimePoint from, Milliseconds delay) noexcept;

/// The time left until `until`, rounded up to whole milliseconds, at least 0.
Milliseconds remaining(TimePoint until, TimePoint now) noexcept;

/// The time since `since`, rounded up to whole milliseconds, at least 0.
inline Milliseconds elapsed(TimePoint since, TimePoint now) noexcept { return remaining(now, since); }

inline TimePoint earliest(TimePoint a, TimePoint b) noexcept { return a < b ? a : b; }

/// Should we stop waiting?
using Interrupted = std::function<bool()>;

/// How long to wait, and what ends the wait sooner. A function that can wait takes a Patience or a deadline, without
/// a default.
struct Patience {
  TimePoint until;
  Interrupted interrupted = [] { return false; };

  bool ended(TimePoint now) const { return now >= until || interrupted(); }
};

/// A patience that starts now and is not interrupted.
Patience within(Milliseconds duration);

/// Reads "500ms", "30", "1m30s", ".5s", "010s": one or several numbers, each with a unit (ms s sec m min h d w). A
/// bare number means seconds. The result is in whole milliseconds, rounded up. Zero is accepted; the caller decides
/// if it is allowed. The locale does not matter. Throws Error{usage} for any other text (negative, exponent, nan,
/// unknown unit, more than kLongest). The error describes the value; the caller names the option.
Milliseconds parse_duration(std::string_view text);

/// The longest duration that parse_duration() accepts: 3650 days.
constexpr Milliseconds kLongest = std::chrono::hours{24 * 3650};

/// For people: "350ms", "14.4s", "12m03s", "3h05m", "2d04h".
std::string describe(Milliseconds duration);

/// For people who will type it again: exact, and readable by parse_duration() ("2m5s", "1500ms").
std::string exact(Milliseconds duration);

}  // namespace rlock
