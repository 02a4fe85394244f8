// rlock lock wait in scripts: it waits until locks are free.

#include <doctest/doctest.h>

#include <csignal>

#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("a free lock ends the wait at once, and stays free") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "wait", "a", "b"}) == 0);
  CHECK(redis.keys().empty());
}

TEST_CASE("a release of a lock of any type ends the wait for it, and nothing is taken") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "read", "write"}) {
    CAPTURE(type);
    const std::string owner = acquired(redis, type, {"--type", type});
    CHECK(status_of(redis, {"lock", "wait", "-qn", type}) == 75);
    CHECK(status_of(redis, {"lock", "wait", "-qnE", "3", type}) == 3);
    Rlock waiter = redis.rlock("lock", "wait", "-q", type);
    const std::string channel = type == "read" || type == "write" ? "redisson_rwlock:{" + type + "}"
                                                                  : "redisson_lock__channel:{" + type + "}";
    REQUIRE(eventually([&] { return redis.listeners(channel) == 1; }, 10s));
    const auto released = std::chrono::steady_clock::now();
    REQUIRE(status_of(redis, {"lock", "release", type, "--owner", owner}) == 0);
    CHECK(waiter.exit_code() == 0);
    CHECK(std::chrono::steady_clock::now() - released < 1500ms);  // it polls every 2 s
    CHECK_FALSE(redis.has(type));
  }
}

TEST_CASE("inside the hold of a run or a script a wait for its key is a deadlock, and ends") {
  RedisServer redis;
  for (const std::string type : {"lock", "read", "fenced", "plain"}) {
    CAPTURE(type);
    Process run = start(redis, {rlock_binary(), "run", "-q", "--type", type, "-k", "k", "--", "sh", "-c",
                                "\"$RLOCK\" lock wait -E 7 k other"});
    CHECK(run.exit_code() == 7);
    CHECK_MESSAGE(contains(run.err(), "deadlock: 'k' is held by process "), run.err());
  }
  Process script = sh(redis,
                      "owner=$(\"$RLOCK\" lock acquire k --while-pid $$) || exit 9\n"
                      "\"$RLOCK\" lock wait -q k; echo $?");
  CHECK(script.exit_code() == 0);
  CHECK(script.out() == "75\n");
  CHECK_MESSAGE(contains(script.err(), "deadlock: 'k' is held by process "), script.err());
}

TEST_CASE("several keys must all be free at the same moment") {
  RedisServer redis;
  const std::string a = acquired(redis, "a");
  const std::string b = acquired(redis, "b");
  Rlock waiter = redis.rlock("lock", "wait", "-q", "a", "b");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{b}") == 1; }, 10s));
  REQUIRE(status_of(redis, {"lock", "release", "a", "--owner", a}) == 0);
  const std::string again = acquired(redis, "a");
  REQUIRE(status_of(redis, {"lock", "release", "b", "--owner", b}) == 0);
  Rlock both = redis.rlock("lock", "wait", "-n", "b", "a");
  CHECK(both.exit_code() == 75);
  CHECK(contains(both.err(), "'a' is held by"));
  CHECK(waiter.running());
  REQUIRE(status_of(redis, {"lock", "release", "a", "--owner", again}) == 0);
  CHECK(waiter.exit_code() == 0);
}

TEST_CASE("the end of a lease, and an unannounced release of a token lock, end the wait") {
  RedisServer redis;
  redis.cli({"HSET", "lease", "somebody:1", "1"});
  redis.cli({"PEXPIRE", "lease", "700"});
  redis.cli({"SET", "token", "12345", "PX", "700"});
  CHECK(status_of(redis, {"lock", "wait", "-q", "lease", "token", "-w", "10s"}) == 0);
}

TEST_CASE("a key that is no lock is refused at once, as is a wait without a KEY") {
  RedisServer redis;
  redis.cli({"SET", "pool", "3"});
  Rlock refused = redis.rlock("lock", "wait", "a", "pool");
  CHECK(refused.exit_code() == 65);
  CHECK(contains(refused.err(), "'pool' holds a number"));
  CHECK(status_of(redis, {"lock", "wait"}) == 64);
}

TEST_CASE("a wait for locks ends at its limit, and names the holder") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k");
  Rlock waiter = redis.rlock("lock", "wait", "k", "-w", "300ms");
  CHECK(waiter.exit_code() == 75);
  CHECK(contains(waiter.err(), "'k' is held by"));
  CHECK(waiter.out().empty());
}

TEST_CASE("in a cluster the keys of one wait lie in one slot, and a release wakes it") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url();
  Rlock apart{{"lock", "wait", "a", "b", "c"}, options};
  CHECK(apart.exit_code() == 64);
  CHECK(contains(apart.err(), "several slots"));

  Rlock holder{{"run", "-k", "{j}:b", "--", "sleep", "60"}, options};
  Rlock probe{{"lock", "wait", "-q", "{j}:a", "{j}:b"}, options};
  REQUIRE(
      eventually([&] { return Rlock{{"lock", "wait", "-qn", "{j}:b"}, options}.exit_code() == 75; }, 10s));
  Rlock waiter{{"lock", "wait", "-q", "{j}:a", "{j}:b"}, options};
  CHECK(waiter.running());
  holder.signal(SIGTERM);
  CHECK(waiter.exit_code() == 0);
  CHECK(probe.exit_code() == 0);
}

TEST_CASE("over several servers a lock is free where a majority says so") {
  Masters masters{3};
  auto options = masters.environment();
  Rlock holder{{"run", "-k", "k", "--", "sleep", "60"}, options};
  REQUIRE(eventually([&] { return Rlock{{"lock", "wait", "-qn", "k"}, options}.exit_code() == 75; }, 10s));
  Rlock waiter{{"lock", "wait", "-q", "k"}, options};
  CHECK(waiter.running());
  holder.signal(SIGTERM);
  CHECK(waiter.exit_code() == 0);
}
