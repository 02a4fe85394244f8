// rlock stop: asks whoever holds a lock to end.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/witness.h"

namespace rlock::test {

using namespace std::chrono_literals;

namespace {

using Span = std::chrono::milliseconds;

std::string figures(std::vector<Span> times) {
  std::ranges::sort(times);
  return fmt::format("median {} ms, longest {} ms", times[times.size() / 2].count(), times.back().count());
}

}  // namespace

TEST_CASE("stop ends the holder of a lock of any type: 124, outcome stopped, and who asked and why") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "plain"}) {
    CAPTURE(type);
    TempDir folder;
    Rlock run = redis.rlock("run", "--type", type, "-k", "k", "--min-hold", "1h", "--status-file",
                            folder / "status", "--", "sleep", "60");
    REQUIRE(eventually([&] { return redis.has("k") && run.family().size() >= 3; }, 10s));
    Rlock stop = redis.rlock("stop", "k", "--reason", "the release is off");
    CHECK(stop.exit_code() == 0);
    CHECK(contains(stop.err(), "the holder of 'k' has ended: "));
    CHECK(run.exit_code() == 124);
    CHECK(contains(run.err(), "asked to end by "));
    CHECK(contains(run.err(), ": the release is off; stopping the command: SIGTERM now, SIGKILL in "));
    CHECK(contains(read_file(folder / "status"), "\"outcome\":\"stopped\",\"exit\":124"));
    CHECK(contains(read_file(folder / "status"), "\"released\":\"yes\""));
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("stop of all readers ends all, and with --if-owner one of them") {
  RedisServer redis;
  Rlock one = redis.rlock("run", "-s", "-k", "k", "--", "sh", "-c", "echo $RLOCK_OWNER; exec sleep 60");
  Rlock two = redis.rlock("run", "-s", "-k", "k", "--", "sleep", "60");
  Rlock three = redis.rlock("run", "-s", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.cli({"HLEN", "k"}) == "4" && !one.out().empty(); }, 10s));
  CHECK(status_of(redis, {"stop", "k", "--if-owner", line(one.out())}) == 0);
  CHECK(one.exit_code() == 124);
  CHECK(two.running());
  CHECK(status_of(redis, {"stop", "k", "--if-owner", line(one.out())}) == 1);
  CHECK(status_of(redis, {"stop", "k"}) == 0);
  CHECK(two.exit_code() == 124);
  CHECK(three.exit_code() == 124);
}

TEST_CASE("what is free is 1, what cannot be asked 65, and it names unlock") {
  RedisServer redis;
  CHECK(status_of(redis, {"stop", "free"}) == 1);
  redis.cli({"HSET", "java", "8d1f:57", "1"});
  acquired(redis, "lease");
  CHECK(status_of(redis, {"run", "-k", "kept", "--min-hold", "1h", "--", "true"}) == 0);
  for (const std::string key : {"java", "lease", "kept"}) {
    CAPTURE(key);
    Rlock stop = redis.rlock("stop", key);
    CHECK(stop.exit_code() == 65);
    CHECK(contains(stop.err(), "cannot ask the holder of"));
    CHECK(contains(stop.err(), "rlock unlock " + key));
    CHECK(redis.has(key));
  }
}

TEST_CASE("stop of a pool of permits says that it needs --if-owner, and ends that one") {
  RedisServer redis;
  CHECK(status_of(redis, {"permit", "init", "seats", "2"}) == 0);
  Rlock run = redis.rlock("run", "--type", "permit", "-k", "seats", "--", "sh", "-c",
                          "echo $RLOCK_OWNER; exec sleep 60");
  REQUIRE(eventually([&] { return !run.out().empty(); }, 10s));
  const std::string owner = line(run.out());
  Rlock unnamed = redis.rlock("stop", "seats");
  CHECK(unnamed.exit_code() == 65);
  CHECK(unnamed.err() ==
        "rlock: 'seats' holds a pool of permits: name who is to end by --if-owner ID; rlock inspect -v "
        "seats shows them\n");
  CHECK(status_of(redis, {"stop", "seats", "--if-owner", owner}) == 0);
  CHECK(run.exit_code() == 124);
}

TEST_CASE("a command that does not end in time is 75, and keeps its lock until it has ended") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--kill-after", "3s", "--", "sh", "-c",
                          "trap '' TERM; echo on; while :; do sleep 0.1; done");
  REQUIRE(eventually([&] { return run.out() == "on\n"; }, 10s));
  Rlock stop = redis.rlock("stop", "-w", "2s", "k");
  CHECK(stop.exit_code() == 75);
  CHECK(contains(stop.err(), "is still held by"));
  CHECK(contains(stop.err(), "rlock unlock k"));
  CHECK(redis.has("k"));
  CHECK(run.exit_code() == 124);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("stop ends a script that has a keeper, and its lock is given back when it has ended") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK"] = rlock_binary();
  Process script{{"sh", "-c", "owner=$(\"$RLOCK\" lock acquire k --while-pid $$) || exit; exec sleep 60"},
                 options};
  REQUIRE(eventually([&] { return redis.has("k"); }, 10s));
  CHECK(status_of(redis, {"stop", "k"}) == 0);
  CHECK(script.exit_code() == 128 + SIGTERM);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("unlock of a holder that lives recommends stop") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return run.family().size() >= 3 && redis.has("k"); }, 10s));
  Rlock unlock = redis.rlock("unlock", "-y", "k");
  CHECK(unlock.exit_code() == 0);
  CHECK(contains(unlock.err(), "rlock stop ends the command first"));
}

TEST_CASE("a run that is over within a second costs the server no request for stop") {
  RedisServer redis;
  Monitor monitor{redis};
  CHECK(status_of(redis, {"run", "-k", "k", "--", "true"}) == 0);
  for (const std::string& command : monitor.commands()) CHECK_FALSE(contains(command, "SUBSCRIBE"));
}

TEST_CASE("stop works in a cluster, and over several servers") {
  Masters masters{3};
  Rlock run = masters.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return masters.holding("k") == 3 && run.family().size() >= 3; }, 10s));
  CHECK(masters.rlock("stop", "k").exit_code() == 0);
  CHECK(run.exit_code() == 124);
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url();
  Rlock there{{"run", "-k", "foo", "--", "sleep", "60"}, options};
  REQUIRE(eventually([&] { return cluster.node(2).has("foo"); }, 30s));
  CHECK(Rlock{{"stop", "foo"}, options}.exit_code(30s) == 0);
  CHECK(there.exit_code() == 124);
}

TEST_CASE("live holders are stopped under the witness: nobody is beside the next, who starts soon") {
  RedisServer redis;
  TempDir evidence;
  const Words witness = witness_command(evidence.path(), "for 60000");
  Words words{"run", "-qk", "k", "--"};
  words.insert(words.end(), witness.begin(), witness.end());
  std::vector<Span> heard, next;
  std::vector<Rlock> runs;
  const int rounds = long_profile() ? 50 : 12;
  runs.emplace_back(words, redis.environment());
  for (int i = 1; i <= rounds; ++i) {
    const auto holds = [&] { return judge(evidence.path()).holds; };
    REQUIRE(eventually([&] { return holds() == static_cast<std::size_t>(i); }, 20s));
    runs.emplace_back(words, redis.environment());
    REQUIRE(eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{k}:line"}) == "1"; }, 20s));
    const auto asked = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration_cast<Span>(std::chrono::steady_clock::now() - asked);
    };
    REQUIRE(status_of(redis, {"stop", "-q", "k"}) == 0);
    heard.push_back(elapsed());
    REQUIRE(eventually([&] { return holds() == static_cast<std::size_t>(i + 1); }, 20s));
    next.push_back(elapsed());
    CHECK(runs[static_cast<std::size_t>(i - 1)].exit_code() == 124);
  }
  const Verdict verdict = judge(evidence.path());
  CHECK_MESSAGE(verdict.clean(), verdict.str());
  MESSAGE("stop ended: " << figures(heard) << "; the next had started: " << figures(next));
}

}  // namespace rlock::test
