// -v prints the internal steps of a run, with the time since its start.

#include <doctest/doctest.h>

#include <csignal>
#include <regex>
#include <sstream>

#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("-v says when the lock was acquired, first renewed and released, counted from the start") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k");
  Rlock run = redis.rlock("run", "-v", "--lease", "1500ms", "-k", "k", "-c", "read line");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }));
  REQUIRE(status_of(redis, {"lock", "release", "k", "--owner", owner}) == 0);
  CHECK(run.exit_code() == 1);  // at the end of its input

  Rlock longer = redis.rlock("run", "-v", "--lease", "1500ms", "-k", "k", "--", "sleep", "1.2");
  CHECK(longer.exit_code() == 0);
  const std::string text = longer.err();
  CAPTURE(text);
  for (const char* part : {"s lease 1.5s ", "s acquired 'k' after ", "s renewed 'k'\n", "s released 'k'\n"})
    CHECK(contains(text, part));
  CHECK_FALSE(contains(text, "again"));
  CHECK_FALSE(contains(text, "servers granted it"));  // that is news only where several decide
  std::istringstream lines{text};
  const std::regex stamped{R"(rlock: \+[0-9]+\.[0-9]{3}s .*)"};
  for (std::string line; std::getline(lines, line);) CHECK(std::regex_match(line, stamped));

  CHECK(contains(run.err(), "s acquired 'k' after "));
  Rlock acquire = redis.rlock("lock", "acquire", "-v", "k", "--lease", "1m");
  CHECK(acquire.exit_code() == 0);
  CHECK(contains(acquire.err(), "s acquired 'k' after "));
  Rlock silent = redis.rlock("run", "-k", "other", "--", "true");
  CHECK(silent.exit_code() == 0);
  CHECK(silent.err().empty());
}

TEST_CASE("-v says by which option a key is kept, and then not that it is released") {
  RedisServer redis;
  for (const Words& option : {Words{"--min-hold", "1m"}, Words{"--once-per", "1h"}}) {
    const std::string& name = option.front();
    Rlock run = redis.rlock("run", "-v", "-k", "k" + name, name, option.back(), "--", "true");
    CHECK(run.exit_code() == 0);
    CHECK(contains(run.err(), "s 'k" + name + "' is kept by " + name + "\n"));
    CHECK_FALSE(contains(run.err(), "released"));
  }
}

TEST_CASE("-v says when renewing fails, and when it works again") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-v", "--lease", "9s", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return contains(run.err(), "s renewed 'k'\n"); }, kDeadline));
  redis.freeze();
  REQUIRE(eventually([&] { return contains(run.err(), "s could not renew 'k': "); }, kDeadline));
  redis.thaw();
  CHECK(eventually([&] { return contains(run.err(), "s renewed 'k' again\n"); }, kDeadline));
  run.signal(SIGTERM);
  CHECK(run.exit_code() == 128 + SIGTERM);
}

TEST_CASE("-v says where a cluster redirects us") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  const auto options = [&] {
    auto environment = Rlock::clean_environment();
    environment.env["RLOCK_URL"] = cluster.url();
    return environment;
  }();
  const std::size_t from = ClusterServers::third_of("foo"), to = (from + 1) % 3;
  RedisServer &old_home = cluster.node(from), &new_home = cluster.node(to);
  const std::string slot = std::to_string(slot_of("foo")), port = std::to_string(new_home.port());
  Rlock run{{"run", "-v", "--lease", "3s", "-k", "foo", "--", "sleep", "60"}, options};
  REQUIRE(eventually([&] { return contains(run.err(), "s renewed 'foo'\n"); }, kDeadline));

  new_home.cli({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(from)});
  old_home.cli({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(to)});
  old_home.cli({"MIGRATE", "127.0.0.1", port, "", "0", "5000", "KEYS", "foo", "rlock:meta:{foo}"});
  for (RedisServer* node : {&new_home, &old_home})
    node->cli({"CLUSTER", "SETSLOT", slot, "NODE", cluster.id(to)});
  const std::string moved =
      "s redirected by 127.0.0.1:" + std::to_string(old_home.port()) + " to 127.0.0.1:" + port;
  CHECK(eventually([&] { return contains(run.err(), moved); }, kDeadline));
  CHECK(new_home.has("foo"));
  run.signal(SIGTERM);
  CHECK(run.exit_code(kDeadline) == 128 + SIGTERM);
}

TEST_CASE("-v names the new primary after a failover") {
  RedisServer primary{{.tcp = true}};
  RedisServer replica{{.tcp = true, .config = {"replicaof 127.0.0.1 " + std::to_string(primary.port())}}};
  REQUIRE(eventually([&] { return contains(replica.cli({"ROLE"}), "\nconnected\n"); }, kDeadline));
  SentinelServer sentinel{"mymaster", primary};
  const std::string other = std::to_string(replica.port());
  REQUIRE(eventually([&] { return contains(sentinel.ask({"SENTINEL", "REPLICAS", "mymaster"}), other); },
                     kDeadline));
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/mymaster";
  Rlock run{{"run", "-v", "--lease", "8s", "-k", "k", "--", "sleep", "60"}, options};
  REQUIRE(eventually([&] { return replica.has("k"); }, kDeadline));
  REQUIRE(eventually([&] { return sentinel.ask({"SENTINEL", "FAILOVER", "mymaster"}) == "OK"; }, kDeadline));
  CHECK(eventually([&] { return contains(run.err(), "s failed over to 127.0.0.1:" + other); }, kDeadline));
  run.signal(SIGTERM);
  CHECK(run.exit_code(kDeadline) == 128 + SIGTERM);
}
