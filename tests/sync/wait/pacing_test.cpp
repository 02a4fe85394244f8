#include "sync/wait/pacing.h"

#include <doctest/doctest.h>

#include "support/now.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

Milliseconds least(Milliseconds) { return 0ms; }
Milliseconds most(Milliseconds span) { return span; }

Milliseconds slept(const Pacing::Plan& sleep) { return remaining(sleep.until, kNow); }

}  // namespace

TEST_CASE("with wake-ups by messages a wait polls seldom, with a tenth of jitter") {
  const Busy busy;
  const Pacing::LastRound round{.busy = &busy, .announced = true, .poll_every = 2000ms};
  CHECK(slept(Pacing{least}.after(round, kNow)) == 2000ms);
  CHECK(slept(Pacing{most}.after(round, kNow)) == 2200ms);
  CHECK(Pacing{least}.after(round, kNow).wakeups_end_it);
}

TEST_CASE("a wait asks again just after the holder's lease can have ended") {
  const Busy busy{.retry_after = 300ms};
  CHECK(slept(Pacing{most}.after({.busy = &busy, .announced = true, .poll_every = 2000ms}, kNow)) == 302ms);
  CHECK(slept(Pacing{most}.after({.busy = &busy, .announced = true, .poll_every = 100ms}, kNow)) == 110ms);
}

TEST_CASE("without wake-ups the pauses double between their bounds") {
  const Busy busy;
  const Pacing::LastRound round{.busy = &busy, .pause = {10ms, 50ms}};
  Pacing pacing{most};
  std::vector<Milliseconds> pauses;
  for (int i = 0; i < 5; ++i) pauses.push_back(slept(pacing.after(round, kNow)));
  CHECK(pauses == std::vector{15ms, 30ms, 60ms, 75ms, 75ms});
}

TEST_CASE("equal bounds are a constant pause") {
  const Busy busy;
  Pacing pacing{most};
  for (int i = 0; i < 3; ++i)
    CHECK(slept(pacing.after({.busy = &busy, .pause = {70ms, 70ms}}, kNow)) == 70ms);
}

TEST_CASE(
    "after a failure a wait asks again soon, and ignores wakeups, because its own undo may cause them") {
  const Pacing::Plan sleep =
      Pacing{most}.after({.failed = true, .announced = true, .poll_every = 2000ms}, kNow);
  CHECK(slept(sleep) == 100ms);
  CHECK_FALSE(sleep.wakeups_end_it);
}

TEST_CASE("after a failure a waiter that stands far behind leaves the server to those before it") {
  const Pacing::LastRound round{.failed = true, .announced = true, .poll_every = 120'000ms, .behind = 3000ms};
  const Pacing::Plan sleep = Pacing{most}.after(round, kNow);
  CHECK(slept(sleep) == 3000ms);
  CHECK_FALSE(sleep.wakeups_end_it);
}

TEST_CASE("after a split vote the pauses double from the time of a round, and begin anew after another end") {
  Pacing pacing{least};
  const Pacing::LastRound split{.several_nodes = true, .split = true, .took = 40ms};
  CHECK(slept(pacing.after(split, kNow)) == 20ms);
  CHECK(slept(pacing.after(split, kNow)) == 40ms);
  CHECK(slept(pacing.after(split, kNow)) == 80ms);
  for (int i = 0; i < 10; ++i) pacing.after(split, kNow);
  CHECK(slept(pacing.after(split, kNow)) == 250ms);

  const Busy busy;
  pacing.after({.several_nodes = true, .busy = &busy, .announced = true, .poll_every = 2000ms}, kNow);
  CHECK(slept(pacing.after(split, kNow)) == 20ms);
}

TEST_CASE("after a split vote wake-ups by pausing rivals are ignored for eight rounds at most") {
  Pacing pacing{most};
  const Pacing::LastRound split{.several_nodes = true, .split = true, .took = 10ms};
  Pacing::Plan sleep = pacing.after(split, kNow);
  CHECK(sleep.ignore_wakeups_until == sleep.until);
  for (int i = 0; i < 10; ++i) sleep = pacing.after(split, kNow);
  CHECK(remaining(sleep.ignore_wakeups_until, kNow) == 80ms);
  CHECK(remaining(sleep.until, kNow) == 750ms);
}

TEST_CASE("with several nodes a wait that was woken pauses until all of them have announced the release") {
  const Busy busy;
  const Pacing::LastRound round{.busy = &busy, .announced = true, .poll_every = 2000ms};
  CHECK(Pacing{most}.after(round, kNow).extra == 0ms);
  Pacing::LastRound several = round;
  several.several_nodes = true;
  CHECK(Pacing{most}.after(several, kNow).extra == 10ms);
}

TEST_CASE("a hundred wakeups are answered at once, and then 25 a second") {
  Pacing pacing{least};
  for (int i = 0; i < 100; ++i) {
    CHECK(pacing.ask_after_wakeup() <= kNow);
    pacing.count_wakeup(kNow);
  }
  CHECK(pacing.ask_after_wakeup() == kNow);
  pacing.count_wakeup(kNow);
  CHECK(pacing.ask_after_wakeup() == kNow + 40ms);
}
