// What a guardian does and when it ends, in model time. The process itself is tested in guardian_test.cpp.

#include "family/guardian_loop.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "base/descriptor.h"
#include "support/fake_family.h"
#include "support/ticking_loop.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using namespace std::chrono_literals;

/// A guardian of processes that exist only here, and the pipe of an rlock that can be killed.
struct Scene {
  TickingLoop loop;
  const TimePoint start = loop.now();
  Pipe pipe;
  FakeFamily family;
  CommandFamily command{0, 0, {}};
  std::optional<GuardianLoop> guardian;
  std::optional<Membership> membership;

  void guard(const Guarded& guarded, const Deadlines& deadlines = {kNever, kNever}) {
    REQUIRE(::fcntl(pipe.reading.number(), F_SETFL, O_NONBLOCK) == 0);
    guardian.emplace(pipe.reading.number(), ::getpid(), guarded, family, command, deadlines);
    membership.emplace(loop, *guardian);
  }
  void kill_rlock() {
    pipe.writing = {};
    guardian->ready(POLLIN, loop.now());
  }
  /// How long the guardian goes on; `longest` at most.
  Milliseconds runs(Milliseconds longest) {
    const TimePoint until = plus(loop.now(), longest), from = loop.now();
    while (!guardian->over() && loop.now() < until) loop.turn(until);
    return elapsed(from, loop.now());
  }
};

}  // namespace

TEST_CASE("after the command's end a guardian whose rlock was killed ends, although a process is silent") {
  Scene scene;
  scene.family.apart = {4711};
  scene.family.silent = {4712};
  scene.guard({.ended = true});
  CHECK(scene.runs(1min) == 1min);
  scene.kill_rlock();
  CHECK(scene.runs(10min) < 10s);
  CHECK_FALSE(scene.guardian->left_alone());
  CHECK(scene.family.signals.empty());
}

TEST_CASE("after the command's end it releases as soon as nobody lives any more") {
  Scene scene;
  scene.guard({.ended = true, .exit = 3});
  scene.kill_rlock();
  scene.runs(1min);
  REQUIRE(scene.guardian->left_alone());
  CHECK(scene.guardian->left_alone()->how == RlockEnd::killed);
  CHECK(scene.guardian->left_alone()->ended);
  CHECK(scene.guardian->left_alone()->exit == 3);
}

TEST_CASE(
    "if rlock was killed, a guardian kills for ten seconds, and for a minute more while a process is silent") {
  for (const bool silent : {false, true}) {
    CAPTURE(silent);
    Scene scene;
    scene.family.living = {4711};
    if (silent) scene.family.silent = {4712};
    scene.guard({});
    scene.kill_rlock();
    const Milliseconds took = scene.runs(10min);
    CHECK(took >= (silent ? 60s : 10s));
    CHECK(took < (silent ? 80s : 20s));
    CHECK_FALSE(scene.guardian->left_alone());
    CHECK(scene.family.signals.back().first == SIGKILL);
  }
}

TEST_CASE("while rlock lives, a guardian acts at the deadlines: the stop signal a little later, and KILL") {
  Scene scene;
  scene.family.living = {4711};
  scene.guard({}, {plus(scene.start, 10s), plus(scene.start, 20s)});
  scene.runs(10s);
  CHECK(scene.family.signals.empty());
  scene.runs(5s);
  REQUIRE_FALSE(scene.family.signals.empty());
  CHECK(scene.family.signals.front().first == SIGTERM);
  CHECK(std::ranges::count(scene.family.signals, SIGKILL, &std::pair<int, TimePoint>::first) == 0);
  scene.runs(10s);
  CHECK(scene.family.signals.back().first == SIGKILL);
  CHECK_FALSE(scene.guardian->over());  // rlock may still release
  scene.family.living = {};
  scene.runs(1min);
  CHECK_FALSE(scene.guardian->left_alone());
}

TEST_CASE("a guardian whose rlock is killed in time releases when the last process has ended") {
  Scene scene;
  scene.family.living = {4711};
  scene.guard({}, {plus(scene.start, 10s), plus(scene.start, 20s)});
  scene.kill_rlock();
  scene.runs(1s);
  CHECK(scene.family.signals.back().first == SIGKILL);
  CHECK_FALSE(scene.guardian->over());
  scene.family.living = {};
  CHECK(scene.runs(1min) < 10s);
  REQUIRE(scene.guardian->left_alone());
  CHECK_FALSE(scene.guardian->left_alone()->ended);
}
