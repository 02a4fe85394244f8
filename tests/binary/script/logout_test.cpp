// The end of a session: its terminal hangs up, or all of its processes get a signal at once, as at a logout.

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/started.h"

using namespace rlock::test;

namespace {

const std::string kLine = "redisson_unlock_latch:{k}:line";

/// A login shell that runs `line`, and the processes of its session.
struct Login {
  Login(const RedisServer& redis, const std::string& line)
      : shell(sh(redis, line + "; true", {.own_session = true})) {}

  void end(int signal) const {
    for (const pid_t pid : shell.family())
      if (::getsid(pid) == shell.pid()) ::kill(pid, signal);
  }

  /// The number of its processes that execute sleep.
  std::ptrdiff_t sleeps() const {
    return std::ranges::count_if(shell.family(), [](pid_t pid) {
      return read_file("/proc/" + std::to_string(pid) + "/comm") == "sleep\n";
    });
  }

  Process shell;
};

}  // namespace

TEST_CASE("when a session ends, the commands and scripts that hold a lock end, and the lock is free") {
  RedisServer redis;
  struct Scene {
    const char* line;
    int sleeps;
  };
  for (const auto& [line, sleeps] :
       {Scene{"\"$RLOCK\" run -k k -- sh -c 'sleep 60 & sleep 61'", 2},
        Scene{"bash -c '\"$RLOCK\" lock acquire k --lease 30s --while-pid $$; sleep 60'", 1}}) {
    for (const int signal : {SIGHUP, SIGTERM, SIGKILL}) {
      CAPTURE(line);
      CAPTURE(signal);
      Login login{redis, line};
      REQUIRE(eventually([&] { return redis.has("k"); }, kDeadline));
      // bash forgets a signal that comes between its last look and the execution of its last command.
      REQUIRE(eventually([&] { return login.sleeps() == sleeps; }, kDeadline));
      login.end(signal);
      CHECK(eventually([&] { return !redis.has("k"); }, kDeadline));
      CHECK(eventually([&] { return login.shell.family().empty(); }, kDeadline));
    }
  }
}

TEST_CASE("a session that ends while rlock waits leaves no waiter behind") {
  RedisServer redis;
  acquired(redis, "k");
  for (const char* line : {"\"$RLOCK\" run -k k -- echo inside",
                           "bash -c '\"$RLOCK\" lock acquire k --lease 30s --while-pid $$ && echo inside'"}) {
    for (const int signal : {SIGHUP, SIGTERM}) {
      CAPTURE(line);
      CAPTURE(signal);
      Login login{redis, line};
      REQUIRE(eventually([&] { return redis.cli({"ZCARD", kLine}) == "1"; }, kDeadline));
      login.end(signal);
      CHECK(eventually([&] { return redis.cli({"ZCARD", kLine}) == "0"; }, kDeadline));
      CHECK(eventually([&] { return login.shell.family().empty(); }, kDeadline));
      CHECK_FALSE(contains(login.shell.out(), "inside"));
    }
  }
}

TEST_CASE(
    "a login shell that dies takes its foreground along: a command, a script that holds a lock, and a wait") {
  RedisServer redis;
  const std::string rlock = "'" + rlock_binary() + "' ";
  const Words shell{"bash", "--norc", "--noprofile", "--noediting", "-i"};
  for (const std::string& line :
       {rlock + "run -k k -- sh -c 'echo o\"\"n; sleep 60'",
        "bash -c \"" + rlock + "lock acquire k --lease 30s --while-pid \\$\\$ && echo o''n; sleep 60\""}) {
    CAPTURE(line);
    Pty login{shell, redis.environment()};
    login.type(line + "\r");
    login.expect("on\r\n");
    REQUIRE(redis.has("k"));
    ::kill(login.pid(), SIGKILL);
    CHECK(eventually([&] { return !redis.has("k"); }, kDeadline));
  }

  acquired(redis, "k");
  Pty login{shell, redis.environment()};
  login.type(rlock + "run -k k -- echo inside\r");
  REQUIRE(eventually([&] { return redis.cli({"ZCARD", kLine}) == "1"; }, kDeadline));
  ::kill(login.pid(), SIGKILL);
  CHECK(eventually([&] { return redis.cli({"ZCARD", kLine}) == "0"; }, kDeadline));
}
