// After a suspend the clocks disagree, because one of them counts the time of the suspend and the other does not.

#include <doctest/doctest.h>
#include <signal.h>

#include <string>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;

namespace {

/// As on a machine that was suspended for ten days: CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC and of other
/// processes' clocks.
const Words kSuspended{"unshare", "-T", "-f", "--boottime", "864000", "--monotonic", "0"};

bool has_time_namespaces() {
  Words words = kSuspended;
  words.push_back("true");
  return Process{words}.exit_code(kDeadline) == 0;
}

Process suspended(const RedisServer& redis, const Words& more) {
  Words words = kSuspended;
  words.insert(words.end(), more.begin(), more.end());
  return start(redis, words, {});
}

}  // namespace

TEST_CASE(
    "after a suspend of ten days a run renews, stops its command in time, and waits as long as it was told") {
  if (!has_time_namespaces()) return skipped("no time namespace may be made here");
  RedisServer redis;
  Process renews =
      suspended(redis, {rlock_binary(), "run", "-k", "k", "--lease", "1500ms", "--", "sleep", "3"});
  CHECK_MESSAGE(renews.exit_code(kDeadline) == 0, renews.err());

  const StopWatch held;
  Process bounded =
      suspended(redis, {rlock_binary(), "run", "-q", "-k", "k", "--max-hold", "1s", "--", "sleep", "60"});
  CHECK(bounded.exit_code(kDeadline) == 124);
  CHECK(held.elapsed() < 20s);

  Process holder = suspended(redis, {rlock_binary(), "run", "-k", "k", "--lease", "2s", "--", "sleep", "60"});
  REQUIRE(eventually([&] { return redis.has("k"); }, kDeadline));
  const StopWatch waited;
  Process waiter = suspended(redis, {rlock_binary(), "run", "-w", "1s", "-k", "k", "--", "true"});
  CHECK(waiter.exit_code(kDeadline) == 75);
  CHECK(gave_up_after(waiter.err()) >= 1);
  CHECK(waited.elapsed() < 20s);
  redis.freeze();
  CHECK(holder.exit_code(kDeadline) == 125);
  redis.thaw();
}

TEST_CASE(
    "after a suspend of ten days a killed run leaves no command behind, and a keeper keeps its script's lock") {
  if (!has_time_namespaces()) return skipped("no time namespace may be made here");
  RedisServer redis;
  Process run = suspended(redis, {"sh", "-c", "echo $$; exec \"$RLOCK\" run -k k -- sleep 60"});
  REQUIRE(eventually([&] { return redis.has("k"); }, kDeadline));
  for (const pid_t pid : run.family())
    if (contains(read_file("/proc/" + std::to_string(pid) + "/comm"), "rlock")) ::kill(pid, SIGKILL);
  CHECK(eventually([&] { return !redis.has("k"); }, kDeadline));
  CHECK(eventually([&] { return run.family().empty(); }, kDeadline));

  Process script =
      suspended(redis, {"bash", "-c",
                        "owner=$(\"$RLOCK\" lock acquire k --lease 1500ms --while-pid $$) || exit 9\n"
                        "sleep 3; \"$RLOCK\" lock status -q k --owner $owner"});
  CHECK_MESSAGE(script.exit_code(kDeadline) == 0, script.err());
  CHECK(eventually([&] { return !redis.has("k"); }, kDeadline));
}
