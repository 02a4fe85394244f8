#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"
#include "support/started.h"

using namespace rlock::test;

// Which processes are stopped, waited for or left alone: seen from outside, with the real binary.

TEST_CASE("the whole group of the command is stopped, not only its first process") {
  RedisServer redis;
  auto run =
      redis.rlock("run", "-k", "k", "--max-hold", "300ms", "--", "sh", "-c", "sleep 60 & sleep 61 & wait");

  CHECK(run.exit_code() == 124);
  CHECK(run.family().empty());
  CHECK(redis.keys().empty());
}

TEST_CASE("the lock is released when all processes that had to stop are gone") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--max-hold", "400ms", "--", "bash", "-c",
                         "(trap '' TERM; exec sleep 60) & echo $!; wait");
  REQUIRE(eventually([&] { return run.out().ends_with('\n'); }));
  const pid_t stubborn = std::stoi(run.out());
  CHECK(alive(stubborn));
  REQUIRE(eventually([&] { return !redis.has("k"); }, 20s));

  CHECK_FALSE(alive(stubborn));
  CHECK(run.exit_code() == 124);
}

TEST_CASE("groups that timeout, set -m and nested shells make are stopped, too") {
  RedisServer redis;
  struct Scene {
    std::string command;
    std::size_t sleeps;
  };
  for (const auto& [command, sleeps] :
       {Scene{"timeout 60 sleep 61", 1}, Scene{"bash -c 'set -m; sleep 62 & wait'", 1},
        Scene{"bash -c 'set -m; sleep 62 & sleep 63'", 2}}) {
    CAPTURE(command);
    auto run = sh(redis, "exec $RLOCK run -q -k k -- " + command);
    REQUIRE(eventually(
        [&] {
          return std::ranges::count_if(run.family(), [&](pid_t pid) {
                   return read_file("/proc/" + std::to_string(pid) + "/comm") == "sleep\n";
                 }) == static_cast<std::ptrdiff_t>(sleeps);
        },
        30s));
    CHECK(redis.rlock("stop", "-q", "k").exit_code() == 0);
    CHECK(run.exit_code() == 124);
    CHECK(run.family().empty());
  }
}

TEST_CASE(
    "groups of their own are stopped before the release even if rlock has no free descriptor to look for them") {
  RedisServer redis;
  auto run =
      redis.rlock("run", "-k", "k", "--max-hold", "1s", "--status-fd", "1", "--", "bash", "-c",
                  "set -m; (trap '' TERM; echo $BASHPID; while :; do sleep 0.1; done) & exec sleep 60");
  REQUIRE(eventually([&] { return run.out().ends_with('\n'); }));
  const pid_t apart = std::stoi(run.out());
  const rlimit none{4, 4};
  REQUIRE(::prlimit(run.pid(), RLIMIT_NOFILE, &none, nullptr) == 0);
  REQUIRE(eventually([&] { return !redis.has("k"); }, 20s));

  CHECK_FALSE(alive(apart));
  CHECK(run.exit_code() == 71);
  CHECK(contains(run.err(),
                 "cannot look for processes of the command: no file descriptor is free (ulimit -n)"));
  CHECK(contains(run.out(), R"("outcome":"error","exit":71,)"));
  CHECK(contains(run.out(), R"("locked":true,)"));
  CHECK(contains(run.out(), R"("owner":")"));
  CHECK(contains(run.out(), R"("released":"unknown",)"));
  ::kill(apart, SIGKILL);
}

TEST_CASE("a process in another session is not stopped, and the lock is held until it has ended") {
  RedisServer redis;
  for (const std::string how : {"exec setsid -w", "env -i setsid -w", "setsid -w env -i"}) {
    CAPTURE(how);
    auto run = redis.rlock("run", "-k", "k", "--lease", "3s", "--max-hold", "2s", "--", "sh", "-c",
                           how + " sh -c 'echo $$; exec sleep 60'");
    REQUIRE(eventually([&] { return run.out().ends_with('\n'); }, 30s));
    const pid_t apart = std::stoi(run.out());
    REQUIRE(eventually(
        [&] { return contains(run.err(), "rlock does not stop process " + std::to_string(apart)); }, 30s));
    CHECK(throughout([&] { return redis.has("k") && alive(apart); }, 4s));  // longer than its lease
    CHECK(redis.rlock("stop", "-q", "-w", "1s", "k").exit_code() == 75);

    ::kill(apart, SIGKILL);

    CHECK(run.exit_code() == 124);
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("if the lock is lost beside a process in another session, rlock names it and ends with 125") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--lease", "1h", "--", "setsid", "-w", "sh", "-c",
                         "echo $$; exec sleep 60");
  REQUIRE(eventually([&] { return run.out().ends_with('\n'); }, 30s));
  const pid_t apart = std::stoi(run.out());
  CHECK(redis.rlock("unlock", "-q", "--yes", "k").exit_code() == 0);
  CHECK(run.exit_code() == 125);
  CHECK(contains(run.err(), "rlock does not stop process " + std::to_string(apart) + " ("));
  CHECK(contains(run.err(), "); it runs on without 'k'"));
  CHECK(alive(apart));
  ::kill(apart, SIGKILL);
}

TEST_CASE("a command that is stopped or ignores TERM is killed in the end") {
  RedisServer redis;
  for (const char* command : {"kill -STOP $$", "trap '' TERM; while :; do sleep 0.1; done"}) {
    auto run = redis.rlock("run", "-k", "k", "--max-hold", "200ms", "--kill-after", "300ms", "--", "sh", "-c",
                           command);
    StopWatch watch;
    CHECK(run.exit_code() == 124);
    CHECK(watch.elapsed() < 5s);
    CHECK(run.family().empty());
  }
}

TEST_CASE("rlock announces KILL for the end of --kill-after, however short the lease is") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--lease", "2s", "--max-hold", "300ms", "--kill-after", "110s",
                         "--", "sleep", "60");

  CHECK(run.exit_code() == 124);
  CHECK(contains(run.err(), "SIGTERM now, SIGKILL in 1m"));
}

TEST_CASE("a stopped command that can end is woken to do so") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--max-hold", "300ms", "--", "bash", "-c",
                         "trap 'echo bye; exit' TERM; kill -STOP $$; sleep 60");

  CHECK(run.exit_code() == 124);
  CHECK(run.out() == "bye\n");
}

TEST_CASE("--signal is the signal that stops the command") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--max-hold", "300ms", "--signal", "USR1", "--", "bash", "-c",
                         "trap 'echo usr1; exit' USR1; while :; do sleep 0.05; done");

  CHECK(run.exit_code() == 124);
  CHECK(run.out() == "usr1\n");
}

TEST_CASE("a signal sent to us reaches the command's group each time, and we hold on") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "bash", "-c",
                         "for s in TERM INT HUP USR1 USR2 WINCH; do trap \"echo $s\" $s; done; echo ready; "
                         "while [ ! -e " +
                             redis.directory() + "/end ]; do sleep 0.02; done; exit 9");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  std::string expected = "ready\n";
  for (const auto& [number, name] : std::vector<std::pair<int, std::string>>{{SIGTERM, "TERM"},
                                                                             {SIGTERM, "TERM"},
                                                                             {SIGINT, "INT"},
                                                                             {SIGHUP, "HUP"},
                                                                             {SIGUSR1, "USR1"},
                                                                             {SIGWINCH, "WINCH"}}) {
    run.signal(number);
    expected += name + "\n";
    CHECK(eventually([&] { return run.out() == expected; }));
  }
  CHECK(redis.has("k"));
  write_file(redis.directory() + "/end", "");

  CHECK(run.exit_code() == 9);
}

TEST_CASE("an alarm from before an exec still ends the command") {
  RedisServer redis;
  auto run = sh(redis, "exec perl -e 'alarm 1; exec @ARGV' $RLOCK run -k k -- sleep 60");

  CHECK(run.exit_code() == 128 + SIGALRM);
  CHECK(eventually([&] { return !redis.has("k"); }));
}

TEST_CASE("with TERM at any moment, no command and no key is left") {
  RedisServer redis;
  for (int delay = 0; delay < 40; ++delay) {
    redis.cli({"SCRIPT", "FLUSH"});  // every script takes two round trips, which makes more moments
    auto run = redis.rlock("run", "-k", "k", "--", "sleep", "60");
    ::usleep(static_cast<useconds_t>(delay * 250));
    run.signal(SIGTERM);
    CHECK(run.exit_code() == 128 + SIGTERM);
    CHECK(run.family().empty());
    CHECK(eventually([&] { return !redis.has("k"); }));
  }
}

TEST_CASE("with --until group rlock waits for the last process of the group, otherwise it names it") {
  RedisServer redis;
  auto waits = redis.rlock("run", "-k", "k", "--until", "group", "--", "sh", "-c", "sleep 0.4 & exit 3");
  StopWatch watch;
  CHECK(waits.exit_code() == 3);
  CHECK(watch.elapsed() >= 300ms);

  auto leaves = redis.rlock("run", "-k", "k", "--", "sh", "-c", "sleep 0.7 & echo $!; exit 3");
  CHECK(leaves.exit_code() == 3);
  const std::string pid = leaves.out().substr(0, leaves.out().find('\n'));
  CHECK(leaves.err() == "rlock: released 'k' while " + pid + " still runs (--until group waits for it)\n");
  CHECK(redis.keys().empty());

  auto keeps = redis.rlock("run", "-k", "k", "--min-hold", "1m", "--", "sh", "-c", "sleep 0.7 & echo $!");
  CHECK(keeps.exit_code() == 0);
  const std::string left = keeps.out().substr(0, keeps.out().find('\n'));
  CHECK(keeps.err() ==
        "rlock: the command of 'k' has ended while " + left + " still runs (--until group waits for it)\n");
}

TEST_CASE("rlock no longer waits for a process that leaves the group") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--until", "group", "--", "bash", "-c",
                         "{ sleep 0.3; exec setsid sleep 60; } & exit 3");

  CHECK(run.exit_code(30s) == 3);
  CHECK(run.family().size() == 1);
}

TEST_CASE("a process that dies of the signal that ended the first process is not left behind") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "bash", "-c",
                         "trap 'exit 4' TERM; "
                         "(trap 'sleep 0.05; exit' TERM; echo ready; while :; do sleep 0.01; done) & wait");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  run.signal(SIGTERM);

  CHECK(run.exit_code() == 4);
  CHECK_FALSE(contains(run.err(), "still runs"));
  CHECK(run.family().empty());
}

TEST_CASE("a group that is waited for is stopped like a command") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--until", "group", "--max-hold", "400ms", "--", "sh", "-c",
                         "sleep 60 & exit 0");

  CHECK(run.exit_code() == 124);
  CHECK(run.family().empty());
}
