#include "redis/executor/retry_plan.h"

#include <algorithm>
#include <utility>

namespace rlock {

Route::Verdict RetryPlan::follow(Route::Verdict verdict) {
  const bool redirects = verdict == Route::Verdict::again || verdict == Route::Verdict::asking;
  return redirects && ++redirections_ > kMostRedirections ? Route::Verdict::later : verdict;
}

void RetryPlan::pause(Failure why, TimePoint now) {
  last_ = std::move(why);
  at_ = plus(now, pause_ + jitter_(pause_));
  pause_ = std::min(pause_ * 2, kLongestPause);
  redirections_ = 0;  // the nodes may agree after the pause, so count anew
}

void RetryPlan::reconnect(Failure why, TimePoint now, TimePoint next_connection) {
  last_ = std::move(why);
  at_ = std::max(plus(now, kShortestPause), next_connection);
}

}  // namespace rlock
