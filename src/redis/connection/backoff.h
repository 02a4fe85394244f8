#pragma once

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/time.h"

namespace rlock {

/// Decides when to reconnect. If a connection lived for a second, the next one opens at once. If it failed sooner,
/// there is a pause with jitter. It doubles each time, up to half a second. So a crowd of waiters does not keep down a
/// server that is coming back. There are at most 20 attempts a second.
class Backoff {
 public:
  static constexpr Milliseconds kShortest{50};
  /// With jitter, at most a second passes between a failure and the next attempt.
  static constexpr Milliseconds kLongest{500};
  static constexpr Milliseconds kLasting{1000};

  explicit Backoff(Jitter jitter = rlock::jitter) : jitter_(std::move(jitter)) {}

  bool due(TimePoint now) const noexcept { return now >= next_; }
  TimePoint next() const noexcept { return next_; }

  void began(TimePoint now) noexcept { began_ = now; }

  void ended(TimePoint now) {
    const bool lasted = now >= plus(began_, kLasting);
    pause_ = lasted ? Milliseconds{0} : std::clamp(pause_ * 2, kShortest, kLongest);
    next_ = plus(now, pause_ + jitter_(pause_));
  }

  /// The last failure was an answer: it is no reason for a pause.
  void forget() noexcept {
    pause_ = Milliseconds{0};
    next_ = TimePoint::min();
  }

 private:
  Jitter jitter_;
  TimePoint began_{};
  TimePoint next_ = TimePoint::min();
  Milliseconds pause_{0};
};

}  // namespace rlock
