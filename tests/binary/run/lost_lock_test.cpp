#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <sstream>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/tcp_proxy.h"

using namespace rlock::test;
using namespace std::chrono_literals;

// The fate of a command after its lock was lost, or after its rlock was stopped.

namespace {

/// Prints "ready", and prints "term" when TERM ends it.
const char* const kObedient = "trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 0.02; done";

[[maybe_unused]] long private_kilobytes(pid_t pid) {
  std::istringstream lines{read_file("/proc/" + std::to_string(pid) + "/smaps_rollup")};
  std::string word;
  while (lines >> word)
    if (word == "Private_Dirty:") break;
  long kilobytes = -1;
  lines >> kilobytes;
  return kilobytes;
}

}  // namespace

TEST_CASE("a command is stopped when another client deletes its lock, and 125 hides its status") {
  RedisServer redis;
  const std::string status = redis.directory() + "/status";
  auto run =
      redis.rlock("run", "-k", "k", "--lease", "3s", "--status-file", status, "--", "bash", "-c", kObedient);
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));

  redis.del("k");

  CHECK(run.exit_code() == 125);
  CHECK(contains(read_file(status), R"("error":"the server says that it is not ours any more")"));
  CHECK(run.out() == "ready\nterm\n");
  CHECK(contains(run.err(), "lost 'k': the server says that it is not ours any more; stopping the command"));
  CHECK(run.err().find("lost 'k'") == run.err().rfind("lost 'k'"));  // it is said once
}

TEST_CASE("a command that does not obey after a loss is killed after --lost-grace") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--lease", "6s", "--lost-grace", "300ms", "--", "bash", "-c",
                         "trap '' TERM; echo ready; while :; do sleep 0.02; done");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));

  redis.cli({"FLUSHALL"});

  CHECK(run.exit_code() == 125);
  CHECK(run.family().empty());
}

TEST_CASE("with --on-lost warn the command runs to its end, and 125 follows") {
  RedisServer redis;
  auto run =
      redis.rlock("run", "-k", "k", "--lease", "3s", "--on-lost", "warn", "--", "sh", "-c",
                  "echo ready; while [ ! -e " + redis.directory() + "/end ]; do sleep 0.02; done; echo done");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  CHECK(guardian_in(run.family()) == 0);

  redis.del("k");
  REQUIRE(eventually([&] { return contains(run.err(), "the command runs on (--on-lost warn)"); }));
  write_file(redis.directory() + "/end", "");

  CHECK(run.exit_code() == 125);
  CHECK(run.out() == "ready\ndone\n");
}

TEST_CASE("125 and a line tell a loss although the command has ended when the answer to the renewal comes") {
  RedisServer redis;
  TcpProxy proxy{redis.where()};
  auto run = redis.rlock("run", "--url", proxy.url(), "-k", "k", "--lease", "6s", "--", "sh", "-c",
                         "echo ready; while [ ! -e " + redis.directory() + "/end ]; do sleep 0.02; done");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  REQUIRE(eventually([&] { return redis.pttl("k") < 4500; }, 10s));
  REQUIRE(eventually([&] { return redis.pttl("k") > 5000; }, 10s));  // the next renewal comes after 2 s
  proxy.delay(TcpProxy::Way::to_client, 200ms);
  const std::size_t before = proxy.bytes(TcpProxy::Way::to_server);
  redis.del("k");
  REQUIRE(eventually([&] { return proxy.bytes(TcpProxy::Way::to_server) > before; }, 10s));
  write_file(redis.directory() + "/end", "");

  CHECK(run.exit_code() == 125);
  CHECK(contains(run.err(), "lost 'k': "));
}

TEST_CASE("a killed rlock takes everything along at once") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "bash", "-c",
                         "set -m; trap '' TERM; sleep 60 & (trap '' TERM; exec sleep 61) & echo ready; wait");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));

  run.signal(SIGKILL);

  CHECK(run.exit_code() == 128 + SIGKILL);
  CHECK(eventually([&] { return run.family().empty(); }));
}

TEST_CASE(
    "an rlock that was stopped too long reports after SIGCONT that its guardian has stopped the command") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--lease", "2s", "--", "bash", "-c", kObedient);
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));

  run.signal(SIGSTOP);
  REQUIRE(eventually([&] { return run.out() == "ready\nterm\n"; }, 10s));
  CHECK(redis.has("k"));  // the command was stopped in time
  REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
  run.signal(SIGCONT);

  CHECK(run.exit_code() == 125);
  CHECK(contains(run.err(), "lost 'k'"));
}

TEST_CASE("a guardian that is killed is replaced, whenever it happens") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "bash", "-c", "sleep 60 & echo ready; wait");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  pid_t guardian = -1;
  REQUIRE(eventually([&] { return (guardian = guardian_in(run.family())) > 0; }));
  for (int i = 0; i < 3; ++i) {
    const pid_t killed = guardian;
    ::kill(killed, SIGKILL);
    // Each look reads the pid once. Between two reads the killed guardian could disappear, and -1 would count as a
    // new guardian.
    REQUIRE(eventually([&] { return (guardian = guardian_in(run.family())) > 0 && guardian != killed; }));
  }

  run.signal(SIGKILL);

  CHECK(eventually([&] { return run.family().empty(); }));
}

TEST_CASE("rlock warns once while no other guardian can be started, and starts one when it can") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "sh", "-c", "echo ready; exec sleep 60");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  pid_t guardian = -1;
  REQUIRE(eventually([&] { return (guardian = guardian_in(run.family())) > 0; }));
  rlimit before{};
  REQUIRE(::prlimit(run.pid(), RLIMIT_NOFILE, nullptr, &before) == 0);
  const rlimit none{4, before.rlim_max};
  REQUIRE(::prlimit(run.pid(), RLIMIT_NOFILE, &none, nullptr) == 0);
  ::kill(guardian, SIGKILL);
  REQUIRE(eventually(
      [&] { return contains(run.err(), "the guardian has died, and no other one can be started"); }));
  CHECK(throughout([&] { return guardian_in(run.family()) == 0; }, 1s));
  REQUIRE(::prlimit(run.pid(), RLIMIT_NOFILE, &before, nullptr) == 0);
  CHECK(eventually([&] { return guardian_in(run.family()) > 0; }));
  const std::string told = run.err();
  CHECK(std::ranges::count(told, '\n') == 1);

  run.signal(SIGTERM);
  CHECK(run.exit_code() == 128 + SIGTERM);
}

TEST_CASE("a guardian has at most 0.2 MB of its own") {
  if (kSanitized) return skipped("the shadow of AddressSanitizer is private too");
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--lease", "3s", "--", "sh", "-c", "echo ready; exec sleep 60");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  REQUIRE(eventually([&] { return redis.pttl("k") < 2500; }));
  REQUIRE(eventually([&] { return redis.pttl("k") > 2500; }));  // the guardian has the new deadlines, too

  const long kilobytes = private_kilobytes(guardian_in(run.family()));

  CHECK(kilobytes > 0);
  CHECK(kilobytes <= 200);
}

TEST_CASE("no guardian is left when all is done, however it ended") {
  RedisServer redis;
  for (const char* command : {"true", "exit 3", "kill -TERM $$", "kill -KILL $$"}) {
    auto run = redis.rlock("run", "-k", "k", "--", "sh", "-c", command);
    run.exit_code();
    CHECK(run.family().empty());
  }
}

TEST_CASE("a stopped guardian does not delay rlock") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "bash", "-c",
                         "trap 'exit 3' USR1; echo ready; while :; do sleep 0.02; done");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  pid_t guardian = -1;
  REQUIRE(eventually([&] { return (guardian = guardian_in(run.family())) > 0; }));
  ::kill(guardian, SIGSTOP);

  run.signal(SIGUSR1);

  CHECK(run.exit_code() == 3);
  CHECK_FALSE(alive(guardian));
}

TEST_CASE("an inner run that is stopped does not take the outer one along") {
  RedisServer redis;
  auto run = redis.rlock(
      "run", "-k", "k", "--", "sh", "-c",
      rlock_binary() + " run -k k --max-hold 300ms -- sleep 60; echo inner $?; sleep 0.2; exit 4");

  CHECK(run.exit_code() == 4);
  CHECK(run.out() == "inner 124\n");
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("a run that is stopped takes inner runs along") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--max-hold", "600ms", "--", "sh", "-c",
                         rlock_binary() + " run -k other -- bash -c 'set -m; sleep 60 & sleep 61'");

  CHECK(run.exit_code() == 124);
  CHECK(eventually([&] { return run.family().empty(); }));
}

TEST_CASE("a command that comes back from ^Z too late does not run on") {
  RedisServer redis;
  Pty shell{{"bash", "--norc", "--noprofile", "--noediting", "-i"}, redis.environment()};
  const std::string command = R"( run -k k --lease 2s -- bash -c 'echo "pid=$$."; exec sleep 60')";
  shell.type(rlock_binary() + command + "\r");
  std::smatch pid;
  std::string screen;
  REQUIRE(eventually([&] {
    screen = shell.screen();
    return std::regex_search(screen, pid, std::regex{"pid=([0-9]+)"});
  }));
  shell.type(Pty::kSuspend);
  shell.expect("unless it goes on, the command is killed in");
  shell.expect("Stopped");

  CHECK(eventually([&] { return !alive(std::stoi(pid[1])); }, 20s));
  shell.type("fg\r");
  shell.type("echo \"status [$?]\"\r");
  shell.expect("status [125]");
}
