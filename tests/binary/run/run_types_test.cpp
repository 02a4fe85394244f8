// `rlock run` with each type of lock, as a user runs it.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// Starts rlock run with these options, on key `k`, with this shell command.
Rlock run_script(const RedisServer& redis, Words options, const std::string& script) {
  Words all{"run", "-k", "k"};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"--", "sh", "-c", script});
  return Rlock{all, redis.environment()};
}

/// Starts a run that holds `k`: its command has made the file `inside` in `folder`.
Rlock holding(const RedisServer& redis, Words options, const TempDir& folder) {
  Rlock held = run_script(redis, std::move(options), "touch " + folder / "inside" + "; exec sleep 60");
  REQUIRE(eventually([&] { return !output_of({"ls", folder.path()}).empty(); }, kPatience));
  return held;
}

const Words kTypeOptions[] = {
    {"--type", "lock"}, {"--type", "read"},  {"--type", "write"}, {"--type", "fenced"},
    {"--type", "spin"}, {"--type", "plain"}, {"--permits", "1"},
};

}  // namespace

TEST_CASE("readers run together, a writer alone") {
  RedisServer redis;
  TempDir folder;
  Rlock reader = holding(redis, {"-s"}, folder);
  CHECK(run_script(redis, {"-s", "-n"}, "true").exit_code(kPatience) == 0);
  CHECK(run_script(redis, {"-x", "-n"}, "true").exit_code(kPatience) == 75);
  reader.signal(SIGTERM);
  reader.exit_code(kPatience);

  TempDir other;
  Rlock writer = holding(redis, {"-x"}, other);
  CHECK(run_script(redis, {"-s", "-n"}, "true").exit_code(kPatience) == 75);
  CHECK(run_script(redis, {"-x", "-n"}, "true").exit_code(kPatience) == 75);
}

TEST_CASE("a waiting writer starts when the last reader has left") {
  RedisServer redis;
  TempDir folder;
  Rlock reader = holding(redis, {"-s"}, folder);
  Rlock writer = run_script(redis, {"-x", "-q"}, "echo written");
  REQUIRE(eventually([&] { return redis.listeners("redisson_rwlock:{k}") == 1; }, kPatience));
  reader.signal(SIGTERM);
  CHECK(writer.exit_code(kPatience) == 0);
  CHECK(writer.out() == "written\n");
}

TEST_CASE("a writer may read inside its write lock; a reader that wants to write is told why it cannot") {
  RedisServer redis;
  const std::string inner = rlock_binary() + " run -n -k k ";
  CHECK(run_script(redis, {"-x"}, inner + "-s -- true").exit_code(kPatience) == 0);
  Rlock upgrade = run_script(redis, {"-s"}, inner + "-x -- true");
  CHECK(upgrade.exit_code(kPatience) != 0);
  CHECK(contains(upgrade.err(), "which cannot also acquire it for writing"));
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("a fenced run learns the token of its hold, and the next run gets a larger one") {
  RedisServer redis;
  TempDir folder;
  const auto fence = [&] {
    Rlock fenced = run_script(redis, {"--fenced", "--status-file", folder / "status"}, "echo $RLOCK_FENCE");
    CHECK(fenced.exit_code(kPatience) == 0);
    return fenced.out();
  };
  CHECK(fence() == "1\n");
  CHECK(fence() == "2\n");
  CHECK(contains(read_file(folder / "status"), "\"fence\":2"));
  CHECK(redis.keys() == "redisson_lock_token:{k}\n");
}

TEST_CASE("a spin lock is waited for without a subscription") {
  RedisServer redis;
  TempDir folder;
  Rlock held = holding(redis, {"--type", "spin"}, folder);
  const std::string holder = redis.cli({"HKEYS", "k"});  // it listens, after a second
  Monitor monitor{redis};
  Rlock waiter = run_script(redis, {"--type", "spin", "-q"}, "true");
  const auto polls = [&] {
    return std::ranges::count_if(monitor.commands(),
                                 [](const auto& line) { return contains(line, "EVALSHA"); });
  };
  REQUIRE(eventually([&] { return polls() > 5; }, kPatience));
  held.signal(SIGTERM);
  CHECK(waiter.exit_code(kPatience) == 0);
  CHECK(std::ranges::none_of(monitor.commands(), [&](const auto& line) {
    return contains(line, "SUBSCRIBE") && !contains(line, holder);
  }));
}

TEST_CASE("a plain lock and a client that knows only SET NX PX exclude each other") {
  RedisServer redis;
  redis.cli({"SET", "k", "another client's token", "NX", "PX", "60000"});
  CHECK(run_script(redis, {"--type", "plain", "-n"}, "true").exit_code(kPatience) == 75);
  CHECK(redis.cli({"GET", "k"}) == "another client's token");
  redis.del("k");

  TempDir folder;
  Rlock held = holding(redis, {"--type", "plain"}, folder);
  CHECK(redis.cli({"SET", "k", "another client's token", "NX", "PX", "60000"}).empty());
  held.signal(SIGTERM);
  held.exit_code(kPatience);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("two of a pool of two run, each with a slot, and a third does not") {
  RedisServer redis;
  TempDir first;
  TempDir second;
  Rlock one = holding(redis, {"--permits", "2"}, first);
  Rlock two = holding(redis, {"--permits", "2"}, second);
  Rlock none_free = run_script(redis, {"--permits", "2", "-n"}, "true");
  CHECK(none_free.exit_code(kPatience) == 75);
  CHECK(contains(none_free.err(), "too few of its permits are free"));
  CHECK_FALSE(contains(none_free.err(), "rlock unlock"));  // unlock is not for pools

  one.signal(SIGTERM);
  one.exit_code(kPatience);
  Rlock next = run_script(redis, {"--permits", "2", "-n"}, "echo $RLOCK_SLOT $RLOCK_TYPE");
  CHECK(next.exit_code(kPatience) == 0);
  CHECK(next.out() == "0 permit\n");
  two.signal(SIGTERM);
  two.exit_code(kPatience);
  CHECK(redis.keys() == "k\n");
  CHECK(redis.cli({"GET", "k"}) == "2");
}

TEST_CASE("a run that takes several permits is told all their slots") {
  RedisServer redis;
  Rlock several = run_script(redis, {"--permits", "4", "--count", "3"}, "echo $RLOCK_SLOTS");
  CHECK(several.exit_code(kPatience) == 0);
  CHECK(several.out() == "0 1 2\n");
  CHECK(redis.cli({"GET", "k"}) == "4");
}

TEST_CASE("a run that finds a pool of 0 permits says how to make it larger") {
  RedisServer redis;
  CHECK(redis.rlock("permit", "init", "seats", "1").exit_code() == 0);
  CHECK(redis.rlock("permit", "set", "seats", "0").exit_code() == 0);
  Rlock refused = redis.rlock("run", "-n", "--type", "permit", "-k", "seats", "--", "true");
  CHECK(refused.exit_code() == 75);
  CHECK_MESSAGE(contains(refused.err(), "the pool has 0 permits"), refused.err());
  CHECK(contains(refused.err(), "rlock permit set seats N"));
}

TEST_CASE("a pool of another size is refused with both sizes and the remedy") {
  RedisServer redis;
  CHECK(run_script(redis, {"--permits", "2"}, "true").exit_code(kPatience) == 0);
  Rlock other = run_script(redis, {"--permits", "5"}, "true");
  CHECK(other.exit_code(kPatience) == 65);
  CHECK(contains(other.err(), "'k' is a pool of 2 permits, not of 5"));
  CHECK(contains(other.err(), "rlock permit set k 5"));
}

TEST_CASE("permits are not taken from a latch of that size") {
  RedisServer redis;
  REQUIRE(redis.rlock("latch", "set", "gate", "3").exit_code(30s) == 0);
  Rlock run = redis.rlock("run", "--permits", "3", "-k", "gate", "--", "true");
  CHECK(run.exit_code(30s) == 65);
  CHECK(contains(run.err(), "latch"));
  for (const char* wanted : {"--permits=3", "--count=1"}) {
    Rlock acquire = redis.rlock("lock", "acquire", "gate", wanted, "--lease", "1m");
    CHECK(acquire.exit_code(30s) == 65);
    CHECK(contains(acquire.err(), "latch"));
  }
  CHECK(redis.cli({"GET", "gate"}) == "3");
}

TEST_CASE("a lock of any type is free within its lease after its run was killed") {
  for (const Words& type : kTypeOptions) {
    CAPTURE(type[1]);
    RedisServer redis;
    TempDir folder;
    Words brief = type;
    brief.insert(brief.end(), {"--lease", "2s"});
    Rlock held = holding(redis, brief, folder);
    held.signal(SIGKILL);
    held.exit_code(kPatience);
    CHECK(run_script(redis, type, "true").exit_code(kPatience) == 0);
  }
}

TEST_CASE("a run of any type keeps its lock beyond the lease, and is stopped when the lock is removed") {
  for (const Words& type : kTypeOptions) {
    CAPTURE(type[1]);
    RedisServer redis;
    TempDir folder;
    Words brief = type;
    brief.insert(brief.end(), {"--lease", "6s"});
    Rlock held = holding(redis, brief, folder);
    redis.cli({"FLUSHALL"});
    CHECK(held.exit_code(kPatience) == 125);
    CHECK(redis.keys().empty());
  }
}

TEST_CASE("a key with other content is refused with 65 and left unchanged") {
  const Words others[] = {
      {"SET", "k", "text"},
      {"SET", "k", "7"},
      {"RPUSH", "k", "a"},
      {"SADD", "k", "a"},
      {"ZADD", "k", "1", "a"},
      {"HSET", "k", "name", "value"},
      {"HSET", "k", "mode", "read", "a:1", "1"},
  };
  RedisServer redis;
  for (const Words& type : kTypeOptions) {
    for (const Words& other : others) {
      const bool same_kind = (type[1] == "plain" && other[2] == "text") ||  // the token of another owner
                             ((type[1] == "read" || type[1] == "write") && other[2] == "mode");
      if (same_kind) continue;
      CAPTURE(type[1]);
      CAPTURE(other[0] + " " + other[2]);
      redis.cli({"FLUSHALL"});
      redis.cli(other);
      const std::string before = redis.cli({"DUMP", "k"});

      Words options = type;
      options.push_back("-n");
      Rlock refused = run_script(redis, options, "echo ran");
      CHECK(refused.exit_code(kPatience) == 65);
      CHECK(refused.out().empty());
      CHECK(contains(refused.err(), "'k' "));
      CHECK(redis.cli({"DUMP", "k"}) == before);
      CHECK(redis.keys() == "k\n");
    }
  }
}

TEST_CASE("if a run wants a lock, and the key is a read/write lock, the message names -x") {
  RedisServer redis;
  TempDir folder;
  Rlock held = holding(redis, {"-s"}, folder);
  Rlock refused = run_script(redis, {"-n"}, "true");
  CHECK(refused.exit_code(kPatience) == 65);
  CHECK(contains(refused.err(), "(-x)"));
}
