// Nested runs that wait for each other's keys.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <list>

#include "support/cli.h"
#include "support/contains.h"
#include "support/dice.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

std::string key(int number) { return "key-" + std::to_string(number); }

/// All at the same time, run i holds key i and then waits for key i + 1; the last run waits for key 0.
struct Circle {
  Circle(int count, const std::string& options) {
    const std::string gate = folder / "gate";
    for (int i = 0; i < count; ++i) {
      const std::string inner = "until [ -e '" + gate + "' ]; do sleep 0.01; done; sleep 0." +
                                std::to_string(i) + "; '" + rlock_binary() + "' run -q " + options +
                                " --status-file '" + folder / ("status-" + std::to_string(i)) + "' -k " +
                                key((i + 1) % count) + " -- true; echo $? > '" +
                                folder / ("exit-" + std::to_string(i)) + "'";
      runs.push_back(redis.rlock("run", "-q", "-k", key(i), "--", "sh", "-c", inner));
    }
    for (int i = 0; i < count; ++i) REQUIRE(eventually([&] { return redis.has(key(i)); }, kLongDeadline));
    write_file(gate, "");
  }

  std::string exit(int number) { return read_file(folder / ("exit-" + std::to_string(number))); }
  std::string status(int number) { return read_file(folder / ("status-" + std::to_string(number))); }

  RedisServer redis;
  TempDir folder;
  std::list<Rlock> runs;
};

}  // namespace

TEST_CASE("if runs wait for each other, the youngest gives up, and the others go on") {
  for (const int count : {2, 3, 5}) {
    CAPTURE(count);
    Circle circle{count, ""};
    std::string errors;
    for (Rlock& run : circle.runs) {
      CHECK(run.exit_code(kLongDeadline) == 0);
      errors += run.err();
    }
    int gave_up = 0;
    for (int i = 0; i < count; ++i) {
      CHECK((circle.exit(i) == "0\n" || circle.exit(i) == "75\n"));
      if (circle.exit(i) != "75\n") continue;
      ++gave_up;
      CHECK(contains(circle.status(i), R"("outcome":"deadlock","exit":75)"));
    }
    CHECK(gave_up == 1);
    CHECK_MESSAGE(contains(errors, "rlock: deadlock: 'key-"), errors);
    // The processes that are named wait; the runs above them hold.
    CHECK_MESSAGE(contains(errors, "' is held by a run above "), errors);
    CHECK(contains(errors, "held by a run above this one\n"));
  }
}

TEST_CASE("with --on-deadlock wait a deadlock is only reported") {
  Circle circle{2, "--on-deadlock wait -w 4s"};
  std::string errors;
  for (Rlock& run : circle.runs) {
    CHECK(run.exit_code(kLongDeadline) == 0);
    errors += run.err();
  }
  CHECK_MESSAGE(contains(errors, "rlock: deadlock: 'key-"), errors);
  CHECK_FALSE(contains(circle.status(0), R"("outcome":"deadlock")"));
  CHECK_FALSE(contains(circle.status(1), R"("outcome":"deadlock")"));
}

TEST_CASE("a run that was killed during its wait is in no circle, and no run gives up because of it") {
  RedisServer redis;
  TempDir folder;
  const std::string go = folder / "go";
  Rlock holder = redis.rlock(
      "run", "-q", "-k", "a", "--", "sh", "-c",
      "until [ -e '" + go + "' ]; do sleep 0.01; done; exec \"$0\" run -q -k b -- echo done", rlock_binary());
  REQUIRE(eventually([&] { return redis.has("a"); }, kLongDeadline));
  Rlock killed = redis.rlock("run", "-q", "-k", "b", "--lease", "8s", "--", rlock_binary(), "run", "-q", "-k",
                             "a", "--", "true");
  // One second after its acquire the holder listens, too, because rlock stop may ask it to stop.
  const std::string of_holder = "redisson_lock__channel:{a}:" + redis.cli({"HKEYS", "a"});
  const auto waits = [&] {
    const std::string channels = redis.cli({"PUBSUB", "CHANNELS", "redisson_lock__channel:{a}:*"});
    return channels != "" && channels != of_holder && channels != of_holder + "\n";
  };
  REQUIRE(eventually(waits, kLongDeadline));
  for (const pid_t pid : killed.family()) ::kill(pid, SIGKILL);
  REQUIRE(eventually([&] { return !waits(); }, kLongDeadline));
  write_file(go, "");
  CHECK(holder.exit_code(kLongDeadline) == 0);
  CHECK_MESSAGE(holder.out() == "done\n", holder.err());
}

TEST_CASE("if all runs take their keys in one order, no deadlock is reported, however long they wait") {
  // The first keys are locks; the others are read or written.
  constexpr std::size_t kKeys = 6;
  constexpr std::size_t kAtOnce = 24;
  const int nestings = long_profile() ? 1000 : 48;
  Dice dice{7};
  RedisServer redis;
  std::list<Rlock> runs;
  int gave_up = 0;
  for (int i = 0; i < nestings; ++i) {
    Words words;
    for (std::size_t number = 0; number < kKeys; ++number) {
      if (dice.coin()) continue;
      const char* type = number < kKeys / 2 ? "lock" : dice.coin() ? "read" : "write";
      if (!words.empty()) words.push_back(rlock_binary());
      for (const std::string& word :
           Words{"run", "-q", "-k", key(static_cast<int>(number)), "--type", type, "--"})
        words.push_back(word);
    }
    if (words.empty()) continue;
    words.insert(words.end(), {"sleep", "0.1"});
    runs.emplace_back(words, redis.environment());
    const bool full = runs.size() >= kAtOnce;
    REQUIRE(eventually(
        [&] { return !full || std::ranges::any_of(runs, [](Rlock& run) { return !run.running(); }); },
        kLongDeadline));
    for (auto run = runs.begin(); run != runs.end();) {
      if (run->running()) {
        ++run;
        continue;
      }
      CHECK_MESSAGE(run->exit_code() == 0, run->err());
      gave_up += contains(run->err(), "deadlock") ? 1 : 0;
      run = runs.erase(run);
    }
  }
  for (Rlock& run : runs) CHECK_MESSAGE(run.exit_code(kLongDeadline) == 0, run.err());
  CHECK(gave_up == 0);
}
