#include "family/escalation.h"

#include <doctest/doctest.h>

#include <vector>

using namespace rlock;

namespace {

TimePoint at(int milliseconds) { return TimePoint{Milliseconds{1'000'000 + milliseconds}}; }

/// All signals that are due at `now`.
std::vector<int> due(Escalation& escalation, int now, const Deadlines& deadlines) {
  std::vector<int> signals;
  while (const auto signal = escalation.next(at(now), deadlines)) signals.push_back(*signal);
  return signals;
}

using SignalNumbers = std::vector<int>;

}  // namespace

TEST_CASE("nothing is due before its time") {
  Escalation escalation{SIGTERM};
  const Deadlines deadlines{at(100), at(200)};

  CHECK(due(escalation, 99, deadlines).empty());
  CHECK(escalation.wake_at(deadlines) == at(100));
  CHECK_FALSE(escalation.begun());
}

TEST_CASE("an escalation sends first the stop signal and CONT, then KILL again and again") {
  Escalation escalation{SIGINT};
  const Deadlines deadlines{at(100), at(200)};

  CHECK(due(escalation, 100, deadlines) == SignalNumbers{SIGINT, SIGCONT});
  CHECK(escalation.begun());
  CHECK(escalation.wake_at(deadlines) == at(200));
  CHECK(due(escalation, 199, deadlines).empty());
  CHECK(due(escalation, 200, deadlines) == SignalNumbers{SIGKILL});
  CHECK(escalation.killing());
  CHECK(due(escalation, 250, deadlines).empty());
  CHECK(due(escalation, 300, deadlines) == SignalNumbers{SIGKILL});
}

TEST_CASE("if both deadlines have passed at the first look, only KILL is due") {
  Escalation escalation{SIGTERM};

  CHECK(due(escalation, 500, {at(100), at(200)}) == SignalNumbers{SIGKILL});
}

TEST_CASE("a deadline may move until it has come, and the deadline of KILL even after the stop signal") {
  Escalation escalation{SIGTERM};

  CHECK(due(escalation, 150, {at(300), at(400)}).empty());
  CHECK(due(escalation, 300, {at(300), at(400)}) == SignalNumbers{SIGTERM, SIGCONT});
  CHECK(due(escalation, 450, {at(900), at(1000)}).empty());
  CHECK(due(escalation, 500, {at(900), at(500)}) == SignalNumbers{SIGKILL});
}

TEST_CASE("a signal that another process has sent is not sent twice") {
  Escalation escalation{SIGTERM};
  escalation.skip_stop();

  CHECK(due(escalation, 150, {at(100), at(200)}).empty());
  CHECK(due(escalation, 200, {at(100), at(200)}) == SignalNumbers{SIGKILL});
}

TEST_CASE("an escalation that is told to hurry kills at once") {
  Escalation escalation{SIGTERM};
  CHECK(due(escalation, 100, {at(100), at(900)}) == SignalNumbers{SIGTERM, SIGCONT});

  escalation.hurry();

  CHECK(due(escalation, 150, {at(100), at(900)}) == SignalNumbers{SIGKILL});
}

TEST_CASE("of two pairs of deadlines, the earlier stop and the earlier KILL count") {
  const Deadlines both = earliest(Deadlines{at(100), at(900)}, Deadlines{at(200), at(300)});

  CHECK(both == Deadlines{at(100), at(300)});
}
