// Which processes --while-pid takes for a script, and what an acquire does if the process has ended or rlock cannot
// watch it.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "base/ancestry.h"
#include "base/error.h"
#include "base/owner_id.h"
#include "cmd/hold/keep/script_keeper.h"
#include "cmd/hold/wait/script_watch.h"
#include "cmd/server/deployment.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/script.h"
#include "support/skipped.h"

using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("no process, another user's process, and no process id are 64 for --while-pid") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "acquire", "k", "--while-pid", "x"}) == 64);
  CHECK(status_of(redis, {"lock", "acquire", "k", "--while-pid", "0"}) == 64);
  Rlock gone = redis.rlock("lock", "acquire", "k", "--while-pid", "4194304");
  CHECK(gone.exit_code() == 64);
  CHECK(contains(gone.err(), "there is no process 4194304"));
  CHECK(redis.keys().empty());
}

TEST_CASE("a thread of the kernel is 64 for --while-pid") {
  if (read_file("/proc/2/comm") != "kthreadd\n") return skipped("/proc shows no thread of the kernel");
  try {
    rlock::expect_script(2);
    FAIL("accepted");
  } catch (const rlock::Error& error) {
    CHECK(error.kind() == rlock::Error::usage);
    const bool may_signal = ::kill(2, 0) == 0;
    CHECK(std::string{error.what()} ==
          (may_signal ? "--while-pid: process 2 is a thread of the kernel"
                      : "--while-pid: process 2 is another user's, and could not be stopped"));
  }
}

TEST_CASE("a thread that is not the first of its process is refused by --while-pid") {
  std::atomic<pid_t> number = 0;
  std::atomic<bool> ends = false;
  std::thread other{[&] {
    number = ::gettid();
    ends.wait(false);
  }};
  REQUIRE(eventually([&] { return number != 0; }));
  try {
    rlock::expect_script(number);
    FAIL("accepted");
  } catch (const rlock::Error& error) {
    CHECK(error.kind() == rlock::Error::usage);
    CHECK(contains(error.what(), "is a thread of a process"));
  }
  ends = true;
  ends.notify_one();
  other.join();
}

TEST_CASE(
    "with any limit of open files a keeper renews, or rlock says what is missing and acquires nothing") {
  if (kSanitized) return skipped("UBSan needs descriptors of its own to see that an object is there");
  RedisServer redis;
  ShellScript script{
      redis,
      "for n in $(seq 5 20); do sh -c \"ulimit -S -n $n; exec \\\"\\$RLOCK\\\" lock acquire k$n --lease 2s --while-pid $$\""
      " >$FOLDER/out$n 2>$FOLDER/err$n; echo $? >$FOLDER/status$n; done\n: >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 30s));
  const auto acquired_at = std::chrono::steady_clock::now();
  Words kept;
  for (int files = 5; files <= 20; ++files) {
    CAPTURE(files);
    const std::string n = std::to_string(files), status = script.file("status" + n);
    CAPTURE(script.file("err" + n));
    if (status == "0\n") {
      CHECK_FALSE(script.file("out" + n).empty());
      kept.push_back("k" + n);
      continue;
    }
    CHECK(status == "71\n");
    CHECK(script.file("out" + n).empty());
    CHECK(contains(script.file("err" + n), " file descriptors, and only "));
    CHECK_FALSE(redis.has("k" + n));
  }
  CHECK(std::ranges::find(kept, "k20") != kept.end());
  const auto renewed = [&](const std::string& key) { return redis.pttl(key) > 1000; };
  CHECK(eventually(
      [&] {
        return std::chrono::steady_clock::now() - acquired_at > 4s && std::ranges::all_of(kept, renewed);
      },
      20s));
}

TEST_CASE("PID 1 is 64 for --while-pid: it is the system, and no script") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "acquire", "k", "--while-pid", "1"}) == 64);
  CHECK(redis.keys().empty());
}

TEST_CASE("if the script ends during the wait, the wait ends, and nothing is held or queued for it") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair"}) {
    CAPTURE(type);
    const std::string owner = acquired(redis, "k", {"--type", type});
    Process script{{"sleep", "60"}};
    Rlock acquire =
        redis.rlock("lock", "acquire", "k", "--type", type, "--while-pid", std::to_string(script.pid()));
    REQUIRE(
        eventually([&] { return contains(redis.keys(), "line") || contains(redis.keys(), "queue"); }, 10s));
    script.signal(SIGKILL);
    script.exit_code();
    CHECK(acquire.exit_code() == 75);
    CHECK(contains(acquire.err(),
                   fmt::format("process {} has ended, so rlock does not acquire 'k' for", script.pid())));
    CHECK(status_of(redis, {"lock", "release", "k", "--owner", owner}) == 0);
    const std::string left = redis.keys();
    CHECK_FALSE(redis.has("k"));
    CHECK_FALSE_MESSAGE(contains(left, ":line"), left);
    CHECK_FALSE_MESSAGE(contains(left, "queue"), left);
  }
}

TEST_CASE("a keeper refuses a process that has only the number of the script") {
  using namespace rlock;  // here only, because the tests have a Script of their own
  RedisServer redis;
  Process stranger{{"sleep", "60"}};
  const auto process = process_of(stranger.pid());
  REQUIRE(process.has_value());
  HoldRequest request;
  ServerOptions server;
  server.urls = {redis.url()};
  request.deployment = resolve(server);
  request.names = {LockName{"k"}};
  request.type = find_lock_type("lock");
  request.script = ProcessId{process->pid, process->started - 1};
  request.budget = plan_budget({.lease = request.lease, .kill_after = request.stop.kill_after});
  const HeldKeys keys{WantedKeys{request, {.owner = new_owner()}},
                      {.asked = Clock::now(), .held = {Held{}}, .answers = {}},
                      Clock::now()};
  Events events;
  Monitor monitor{redis};
  CHECK_THROWS_AS(start_script_keeper(keys, events, [] {}), Error);
  CHECK(throughout([&] { return stranger.running(); }, 200ms));
  // The caller undoes the acquire. A guardian that took the keeper for killed would release, too.
  for (const std::string& command : monitor.commands()) CHECK_FALSE(command.starts_with("\"EVAL"));
}
