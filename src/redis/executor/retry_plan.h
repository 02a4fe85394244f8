#pragma once

#include <optional>
#include <utility>

#include "base/random.h"
#include "base/time.h"
#include "redis/failure.h"
#include "redis/route/route.h"

namespace rlock {

/// Decides when a call is tried again at one node. It knows neither a connection nor the clock. Attempts carries
/// the plan out.
class RetryPlan {
 public:
  /// The pause between two tries of a call that the server cannot answer now (LOADING, BUSY, …). It doubles,
  /// with jitter.
  static constexpr Milliseconds kShortestPause{20};
  static constexpr Milliseconds kLongestPause{500};

  /// A call follows this many redirections at once. After that it pauses, because they may lead in circles.
  static constexpr int kMostRedirections = 5;

  explicit RetryPlan(Jitter jitter = rlock::jitter) : jitter_(std::move(jitter)) {}

  TimePoint at() const noexcept { return at_; }  ///< no try begins before this time

  /// What the verdict of the route means for this call: after too many redirections, `later`.
  Route::Verdict follow(Route::Verdict verdict);

  /// The server cannot answer now. Plans the next try after a pause.
  void pause(Failure why, TimePoint now);

  /// There is no connection any more. Plans the next try for `next_connection`, when the route connects again.
  void reconnect(Failure why, TimePoint now, TimePoint next_connection);

  /// Why the call has no answer at its deadline: the failure of the last try says more than `silence`.
  Failure why_unanswered(Failure silence) const { return last_.value_or(std::move(silence)); }

 private:
  Jitter jitter_;
  TimePoint at_ = TimePoint::min();
  Milliseconds pause_ = kShortestPause;
  int redirections_ = 0;
  std::optional<Failure> last_;
};

}  // namespace rlock
