#include "redis/executor/retry_plan.h"

#include <doctest/doctest.h>

#include <utility>

#include "support/now.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;
using Verdict = Route::Verdict;

namespace {

const Failure kLoading{Error::unreachable, "LOADING"};
const Failure kSilence{Error::unreachable, "no answer in time"};

/// The next pause without jitter and with the most jitter.
std::pair<Milliseconds, Milliseconds> paused(RetryPlan& least, RetryPlan& most) {
  least.pause(kLoading, kNow);
  most.pause(kLoading, kNow);
  return {remaining(least.at(), kNow), remaining(most.at(), kNow)};
}

}  // namespace

TEST_CASE("the first try of a call begins at once") {
  const RetryPlan plan;
  CHECK(plan.at() <= kNow);
  CHECK(plan.why_unanswered(kSilence).text == kSilence.text);
}

TEST_CASE("a call follows some redirections at once, then it pauses, and follows as many again") {
  RetryPlan plan;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < RetryPlan::kMostRedirections; ++i) {
      const Verdict redirection = i % 2 == 0 ? Verdict::again : Verdict::asking;
      CHECK(plan.follow(redirection) == redirection);
    }
    CHECK(plan.follow(Verdict::again) == Verdict::later);
    CHECK(plan.follow(Verdict::deliver) == Verdict::deliver);
    plan.pause(kLoading, kNow);
  }
}

TEST_CASE("the pause before the next try doubles up to its limit, and jitter adds at most as much again") {
  RetryPlan least{[](Milliseconds) { return 0ms; }};
  RetryPlan most{[](Milliseconds span) { return span; }};
  for (const Milliseconds pause : {20ms, 40ms, 80ms, 160ms, 320ms, 500ms, 500ms})
    CHECK(paused(least, most) == std::pair{pause, 2 * pause});
}

TEST_CASE("after a lost connection a call is tried again when the route connects, but never at once") {
  RetryPlan plan;
  plan.reconnect(kLoading, kNow, kNow + 300ms);
  CHECK(plan.at() == kNow + 300ms);
  plan.reconnect(kLoading, kNow, TimePoint::min());
  CHECK(plan.at() == kNow + RetryPlan::kShortestPause);
}

TEST_CASE("a call without an answer at its deadline names the failure of its last try") {
  RetryPlan plan;
  plan.pause(kLoading, kNow);
  CHECK(plan.why_unanswered(kSilence).text == kLoading.text);
  plan.reconnect({Error::unreachable, "connection refused"}, kNow, kNow);
  CHECK(plan.why_unanswered(kSilence).text == "connection refused");
}
