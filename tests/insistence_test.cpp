#include "loop/insistence.h"

#include <doctest/doctest.h>

#include <vector>

using namespace rlock;

namespace {

TimePoint at(int milliseconds) { return TimePoint{Milliseconds{1'000'000 + milliseconds}}; }

/// Everything that is due by then.
std::vector<int> due(Insistence& insist, int now, const Deadlines& deadlines) {
  std::vector<int> signals;
  while (const auto signal = insist.next(at(now), deadlines)) signals.push_back(*signal);
  return signals;
}

using Signals = std::vector<int>;

}  // namespace

TEST_CASE("nothing is due before its time") {
  Insistence insist{SIGTERM};
  const Deadlines deadlines{at(100), at(200)};

  CHECK(due(insist, 99, deadlines).empty());
  CHECK(insist.wake_at(deadlines) == at(100));
  CHECK_FALSE(insist.begun());
}

TEST_CASE("first the signal and CONT, then KILL again and again") {
  Insistence insist{SIGINT};
  const Deadlines deadlines{at(100), at(200)};

  CHECK(due(insist, 100, deadlines) == Signals{SIGINT, SIGCONT});
  CHECK(insist.begun());
  CHECK(insist.wake_at(deadlines) == at(200));
  CHECK(due(insist, 199, deadlines).empty());
  CHECK(due(insist, 200, deadlines) == Signals{SIGKILL});
  CHECK(insist.killing());
  CHECK(due(insist, 250, deadlines).empty());
  CHECK(due(insist, 300, deadlines) == Signals{SIGKILL});
}

TEST_CASE("whoever is too late is killed without being woken") {
  Insistence insist{SIGTERM};

  CHECK(due(insist, 500, {at(100), at(200)}) == Signals{SIGKILL});
}

TEST_CASE("deadlines may move until they have come, and KILL after that") {
  Insistence insist{SIGTERM};

  CHECK(due(insist, 150, {at(300), at(400)}).empty());
  CHECK(due(insist, 300, {at(300), at(400)}) == Signals{SIGTERM, SIGCONT});
  CHECK(due(insist, 450, {at(900), at(1000)}).empty());
  CHECK(due(insist, 500, {at(900), at(500)}) == Signals{SIGKILL});
}

TEST_CASE("what somebody else has sent is not sent twice") {
  Insistence insist{SIGTERM};
  insist.skip_stop();

  CHECK(due(insist, 150, {at(100), at(200)}).empty());
  CHECK(due(insist, 200, {at(100), at(200)}) == Signals{SIGKILL});
}

TEST_CASE("a hurried one kills at once") {
  Insistence insist{SIGTERM};
  CHECK(due(insist, 100, {at(100), at(900)}) == Signals{SIGTERM, SIGCONT});

  insist.hurry();

  CHECK(due(insist, 150, {at(100), at(900)}) == Signals{SIGKILL});
}

TEST_CASE("the earlier of two deadlines counts, each for itself") {
  const Deadlines both = earliest(Deadlines{at(100), at(900)}, Deadlines{at(200), at(300)});

  CHECK(both == Deadlines{at(100), at(300)});
}
