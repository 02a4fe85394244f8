#include "cmd/hold/command/held_processes.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "support/captured_stderr.h"
#include "support/contains.h"
#include "support/fake_family.h"
#include "support/process.h"
#include "support/ticking_loop.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using namespace std::chrono_literals;

/// Processes of a lock that no server holds, and no guardian.
struct FakeHold {
  TickingLoop loop;
  TimePoint start = loop.now();
  FakeFamily family;
  Deadlines deadlines{plus(start, 10s), plus(start, 11s)};
  std::optional<std::string> lost, asked;
  bool renewed = true, held = true, first_ended = false;
  StopOptions options{};
  Words reported;  ///< what report_lost and report_stopping got
  std::optional<HeldProcesses> processes;
  CapturedStderr said;

  HeldProcesses& held_processes() {
    if (!processes) {
      options.report_lost = [this](const std::string& why) { reported.push_back("lost: " + why); };
      options.report_stopping = [this](const std::string& why) { reported.push_back("stopping: " + why); };
      processes.emplace(loop, family,
                        HeldLock{.name = [] { return "'k'"; },
                                 .deadlines = [this] { return deadlines; },
                                 .renewed = renewed,
                                 .held = held,
                                 .asked_to_stop = [this] { return asked; },
                                 .lost = [this] { return lost; }},
                        options);
    }
    return *processes;
  }

  /// Turns at this time after the start, and returns the signals that were sent then.
  std::vector<int> at(Milliseconds time) {
    family.signals.clear();
    held_processes().turn(plus(start, time), [this] { return first_ended; });
    std::vector<int> numbers;
    for (const auto& [number, until] : family.signals) numbers.push_back(number);
    return numbers;
  }

  /// A second after the start the lock is lost, while this process is out of reach.
  void lose_it_beside(pid_t apart) {
    family.apart = {apart};
    lost = "it expired";
    deadlines.stop = start;
    at(1s);
    said.take();
  }

  /// True: at this time after the start, the release would wait for the end of a process.
  bool waits(Milliseconds time, std::vector<pid_t> unstopped = {}) {
    const bool result = held_processes().others_must_end(plus(start, time), [&] { return unstopped; });
    held_processes().stop_waiting();
    return result;
  }
};

using Numbers = std::vector<int>;

}  // namespace

TEST_CASE("signals are due at the deadlines of the lock, which each renewal moves") {
  FakeHold scene;
  CHECK(scene.at(9999ms).empty());
  CHECK(scene.held_processes().wake_at() == scene.deadlines.stop);
  scene.deadlines = {plus(scene.start, 20s), plus(scene.start, 21s)};
  CHECK(scene.at(10s).empty());
  CHECK(scene.family.looks == 0);
  CHECK_FALSE(scene.held_processes().stopping());
  CHECK(scene.reported.empty());

  CHECK(scene.at(20s) == Numbers{SIGTERM, SIGCONT});
  for (const auto& [number, until] : scene.family.signals) CHECK(until == scene.deadlines.kill);
  CHECK(scene.family.looks == 1);
  CHECK(scene.held_processes().stopping());
  CHECK_FALSE(scene.held_processes().killing());
  CHECK(scene.reported == Words{"stopping: its first process has ended"});
  CHECK(scene.at(20'999ms).empty());

  CHECK(scene.at(21s) == Numbers{SIGKILL});
  CHECK(scene.family.signals.front().second == kNever);
  CHECK(scene.held_processes().killing());
  CHECK(scene.at(21'099ms).empty());
  CHECK(scene.at(21'100ms) == Numbers{SIGKILL});
  CHECK(scene.family.looks == 1);
  CHECK(scene.reported.size() == 1);
  CHECK(scene.said.take_lines().empty());
}

TEST_CASE("a loss is announced once, with what happens to the processes") {
  FakeHold scene;
  scene.lost = "somebody removed it";
  scene.deadlines = {scene.start, plus(scene.start, 2s)};
  CHECK(scene.at(1s) == Numbers{SIGTERM, SIGCONT});
  CHECK(scene.held_processes().said_lost());
  CHECK(scene.said.take_lines() ==
        Words{"lost 'k': somebody removed it; stopping the command: SIGTERM now, SIGKILL in 1s"});
  CHECK(scene.reported == Words{"lost: somebody removed it", "stopping: the lock is lost"});
  CHECK(scene.at(1s).empty());
  CHECK(scene.at(2s) == Numbers{SIGKILL});
  CHECK(scene.said.take_lines().empty());
  CHECK(scene.reported.size() == 2);
}

TEST_CASE("the line of a loss tells that the first process has ended, runs on, or gets KILL at once") {
  FakeHold ended;
  ended.lost = "it expired";
  ended.first_ended = true;
  ended.at(1s);
  CHECK(ended.said.take_lines() == Words{"lost 'k': it expired; the command has ended"});

  FakeHold warned;
  warned.lost = "it expired";
  warned.deadlines = {warned.start, warned.start};
  warned.options.rules.stop_on_loss = false;
  warned.options.whom = "process 7";
  CHECK(warned.at(1s).empty());
  CHECK(warned.said.take_lines() == Words{"lost 'k': it expired; process 7 runs on (--on-lost warn)"});
  CHECK(warned.held_processes().of_lock() == Deadlines{});
  CHECK(warned.held_processes().wake_at() == kNever);
  CHECK(warned.at(100s).empty());

  FakeHold killed;
  killed.lost = "it expired";
  killed.deadlines = {killed.start, plus(killed.start, 9s)};
  killed.options.rules.signal = SIGKILL;
  CHECK(killed.at(1s) == Numbers{SIGKILL, SIGCONT});
  CHECK(killed.said.take_lines() == Words{"lost 'k': it expired; stopping the command: SIGKILL now"});
}

TEST_CASE("at --max-hold the processes are stopped, and killed after --kill-after") {
  FakeHold scene;
  scene.options.max_hold = plus(scene.start, 3s);
  scene.options.rules.kill_after = 4s;
  scene.deadlines = {plus(scene.start, 100s), plus(scene.start, 101s)};
  CHECK(scene.at(2999ms).empty());
  CHECK_FALSE(scene.held_processes().at_max_hold());
  CHECK(scene.said.take_lines().empty());
  CHECK(scene.at(3s) == Numbers{SIGTERM, SIGCONT});
  CHECK(scene.held_processes().at_max_hold());
  CHECK(scene.said.take_lines() ==
        Words{"--max-hold is over for 'k': stopping the command: SIGTERM now, SIGKILL in 4s"});
  CHECK(scene.reported == Words{"stopping: --max-hold is over"});
  CHECK(scene.at(3s).empty());
  CHECK(scene.said.take_lines().empty());
  CHECK(scene.held_processes().deadlines().kill == plus(scene.start, 7s));
  CHECK(scene.at(7s) == Numbers{SIGKILL});
}

TEST_CASE("--max-hold is not reported when the processes are being stopped already, or the lock is lost") {
  for (const std::string first : {"lost", "asked", "stopped"}) {
    CAPTURE(first);
    FakeHold scene;
    scene.options.max_hold = plus(scene.start, 3s);
    if (first == "lost") scene.lost = "it expired";
    if (first == "asked") scene.asked = "ana";
    if (first == "stopped") scene.deadlines.stop = scene.start;
    scene.at(first == "stopped" ? 2s : 3s);
    scene.at(3s);
    CHECK_FALSE(scene.held_processes().at_max_hold());
    for (const std::string& line : scene.said.take_lines())
      CHECK_FALSE(line.starts_with("--max-hold is over"));
  }
}

TEST_CASE("without renewals the line about --max-hold names the KILL of the lock if that comes first") {
  for (const bool renewed : {true, false}) {
    CAPTURE(renewed);
    FakeHold scene;
    scene.renewed = renewed;
    scene.options.max_hold = plus(scene.start, 3s);
    scene.deadlines = {plus(scene.start, 4s), plus(scene.start, 5s)};
    scene.at(3s);
    CHECK(scene.said.take_lines() ==
          Words{"--max-hold is over for 'k': stopping the command: SIGTERM now, SIGKILL in " +
                std::string{renewed ? "5s" : "2s"}});
  }
}

TEST_CASE("a request to end stops the processes once, and only if they are not being stopped already") {
  FakeHold scene;
  scene.asked = "ana: maintenance";
  scene.options.rules.kill_after = 3s;
  CHECK(scene.at(1s) == Numbers{SIGTERM, SIGCONT});
  CHECK(scene.held_processes().asked_by() == "ana: maintenance");
  CHECK(scene.said.take_lines() ==
        Words{"asked to end by ana: maintenance; stopping the command: SIGTERM now, SIGKILL in 3s"});
  CHECK(scene.reported == Words{"stopping: asked to end by ana: maintenance"});
  scene.asked = "ben";
  CHECK(scene.at(2s).empty());
  CHECK(scene.held_processes().asked_by() == "ana: maintenance");
  CHECK(scene.said.take_lines().empty());
  CHECK(scene.at(4s) == Numbers{SIGKILL});

  FakeHold late;
  late.at(10s);
  late.asked = "ana";
  CHECK(late.at(10'500ms).empty());
  CHECK_FALSE(late.held_processes().asked_by());
  CHECK(late.said.take_lines().empty());
}

TEST_CASE("end() cannot put off an earlier deadline of the lock") {
  FakeHold scene;
  scene.held_processes().end(plus(scene.start, 1s), 30s, "the keeper was told to end");
  CHECK(scene.held_processes().deadlines() == Deadlines{plus(scene.start, 1s), plus(scene.start, 11s)});
  CHECK(scene.said.take_lines() ==
        Words{"the keeper was told to end; stopping the command: SIGTERM now, SIGKILL in 30s"});
}

TEST_CASE("processes that refuse the signal are named once") {
  for (const bool held : {true, false}) {
    CAPTURE(held);
    FakeHold scene;
    scene.held = held;
    scene.family.refused = {4711, 4712};
    CHECK(scene.at(10s) == Numbers{SIGTERM, SIGCONT});
    CHECK(scene.said.take_lines() ==
          Words{std::string{"may not signal processes 4711, 4712 (another user's)"} +
                (held ? "; 'k' is renewed as long as it is ours" : "")});
    CHECK(scene.at(11s) == Numbers{SIGKILL});
    CHECK(scene.said.take_lines().empty());
  }
}

TEST_CASE(
    "a release waits for processes that the command left only if the command was stopped or --until asks for it") {
  FakeHold scene;
  scene.family.living = {::getpid()};
  scene.family.apart = {::getpid()};
  scene.at(1s);
  CHECK_FALSE(scene.waits(1s));
  CHECK(scene.waits(1s, {::getpid()}));
  scene.at(10s);
  CHECK(scene.waits(10s));
  scene.family.living.clear();
  CHECK(scene.said.take_lines().empty());

  CHECK(scene.waits(10s));
  CHECK(scene.said.take_lines().empty());  // it may end by itself
  CHECK(scene.waits(10500ms));
  const std::string line = "rlock does not stop process " + std::to_string(::getpid()) +
                           " (in another session, or without its environment); 'k' stays held until no such "
                           "process runs";
  CHECK(scene.said.take_lines() == Words{line});
  CHECK(scene.waits(11s));
  CHECK(scene.said.take_lines().empty());
}

TEST_CASE("several processes out of reach are named in one line") {
  FakeHold scene;
  scene.family.apart = {::getpid(), ::getppid()};
  scene.at(10s);
  CHECK(scene.waits(10s));
  CHECK(scene.waits(10500ms));
  const Words lines = scene.said.take_lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines.front().starts_with("rlock does not stop processes "));
  CHECK(contains(lines.front(), "without their environment"));
}

TEST_CASE("once the lock is lost, processes out of reach are named, and the release does not wait for them") {
  for (const bool watched : {true, false}) {
    CAPTURE(watched);
    FakeHold scene;
    scene.lose_it_beside(::getpid());
    const auto waits = [&](Milliseconds time) {
      return watched ? scene.held_processes().others_must_end(plus(scene.start, time), nullptr)
                     : scene.waits(time);
    };
    CHECK(waits(1s));
    CHECK(waits(1499ms));
    CHECK(scene.held_processes().wake_at() == plus(scene.start, 1500ms));
    CHECK(scene.said.take_lines().empty());  // it may end by itself
    CHECK_FALSE(waits(1500ms));
    CHECK(scene.said.take_lines() ==
          Words{"rlock does not stop process " + std::to_string(::getpid()) +
                " (in another session, or without its environment); it runs on without 'k'"});
  }
}

TEST_CASE("once the lock is lost, nothing is said of a process out of reach that ends by itself") {
  FakeHold scene;
  scene.lose_it_beside(::getpid());
  CHECK(scene.waits(1s));
  scene.family.apart.clear();
  CHECK_FALSE(scene.waits(1200ms));
  CHECK(scene.said.take_lines().empty());
}

TEST_CASE("a run without a lock does not wait for processes out of reach") {
  FakeHold scene;
  scene.family.apart = {::getpid()};
  scene.held = false;
  scene.at(10s);
  CHECK_FALSE(scene.waits(10s));
}

TEST_CASE("the release waits until /proc has shown each environment, and the loop turns meanwhile") {
  FakeHold scene;
  scene.family.silent = {4711};
  scene.at(10s);
  CHECK(scene.waits(10s));
  CHECK(scene.held_processes().wake_at() == plus(scene.start, 10100ms));
  scene.family.silent = {};
  CHECK(scene.waits(10099ms));  // it goes on only then
  CHECK_FALSE(scene.waits(10100ms));
  CHECK(scene.said.take_lines().empty());
}

TEST_CASE("a process whose environment /proc does not show is named, and holds up the release") {
  FakeHold scene;
  scene.family.silent = {4711, 4712};
  scene.at(10s);
  CHECK(scene.waits(10s));
  CHECK(scene.waits(11999ms));
  CHECK(scene.said.take_lines().empty());
  CHECK(scene.waits(12100ms));
  CHECK(scene.said.take_lines() ==
        Words{"/proc has not shown the environment of process 4711 yet; 'k' stays held until it has"});
  CHECK(scene.waits(3600s));
  CHECK(scene.said.take_lines().empty());
}

TEST_CASE("after a process out of reach and one in reach are found, the loop sleeps") {
  FakeHold scene;
  scene.family.apart = {::getpid()};
  scene.at(10s);
  CHECK(scene.held_processes().others_must_end(plus(scene.start, 10s), nullptr));
  scene.family.living = {::getppid()};
  CHECK(scene.held_processes().others_must_end(plus(scene.start, 10500ms), nullptr));
  CHECK(scene.held_processes().wake_at() > plus(scene.start, 10500ms));
}

TEST_CASE("once the lock is lost, the release waits only for a moment for what /proc does not show") {
  FakeHold scene;
  scene.lose_it_beside(4713);
  scene.family.apart = {};
  scene.family.silent = {4711};
  CHECK(scene.waits(1s));
  CHECK(scene.waits(1999ms));
  CHECK_FALSE(scene.waits(2100ms));
}

TEST_CASE("a command that nobody has stopped waits for no environment") {
  FakeHold scene;
  scene.family.silent = {4711};
  CHECK_FALSE(scene.waits(1s));
}

TEST_CASE("once the lock is lost, the release waits for a process that survives KILL only for a moment") {
  for (const bool is_lost : {true, false}) {
    CAPTURE(is_lost);
    FakeHold scene;
    scene.options.last_tries = 2s;
    scene.family.living = {::getpid()};
    if (is_lost) scene.lost = "it expired";
    scene.at(10s);
    REQUIRE(scene.at(11s) == Numbers{SIGKILL});
    scene.at(12s);
    const auto waits = [&](Milliseconds time) {
      return scene.held_processes().others_must_end(plus(scene.start, time),
                                                    [] { return std::vector<pid_t>{}; });
    };
    CHECK(waits(12s));  // from now on there is a watch
    CHECK(waits(12'999ms));
    CHECK(waits(13s) == !is_lost);
  }
}

TEST_CASE("the release waits for the next KILL that hurry() has made due, even if no process is seen") {
  FakeHold scene;
  scene.at(10s);
  CHECK_FALSE(scene.waits(10s));
  scene.held_processes().hurry();
  CHECK(scene.waits(10s));
  CHECK(scene.at(10s) == Numbers{SIGKILL});
  CHECK_FALSE(scene.waits(10s));
}

TEST_CASE("when the watch for a process is over, the release looks again for processes to wait for") {
  FakeHold scene;
  scene.at(10s);
  scene.family.living = {::getpid()};
  const auto waits = [&] {
    return scene.held_processes().others_must_end(scene.loop.now(), [] { return std::vector<pid_t>{}; });
  };
  CHECK(waits());
  scene.family.living.clear();
  CHECK(waits());  // its watch tells nothing yet
  scene.loop.turn(kNever);
  CHECK_FALSE(waits());
}
