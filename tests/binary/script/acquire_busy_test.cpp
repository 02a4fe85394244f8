// What an acquire of a busy key says about its holder, and what can be done.

#include <doctest/doctest.h>

#include <csignal>
#include <string>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("a held key is 75 for acquire, or the status of -E") {
  RedisServer redis;
  acquired(redis, "deploy");
  CHECK(status_of(redis, {"lock", "acquire", "-n", "deploy", "--lease", "1m"}) == 75);
  CHECK(status_of(redis, {"lock", "acquire", "-nqE7", "deploy", "--lease", "1m"}) == 7);
  CHECK(status_of(redis, {"lock", "acquire", "-w", "2s", "-k", "deploy", "--lease", "1m"}) == 75);
}

TEST_CASE("a failed acquire names the holder") {
  RedisServer redis;
  acquired(redis, "deploy");
  Rlock acquire = redis.rlock("lock", "acquire", "-n", "deploy", "--lease", "1m");
  CHECK(acquire.exit_code() == 75);
  CHECK(acquire.out().empty());
  CHECK(acquire.err().starts_with("rlock: not waiting (-n): 'deploy' is held by "));
  CHECK(acquire.err().ends_with(", because no process renews it\n"));
  Rlock quiet = redis.rlock("lock", "acquire", "-nq", "deploy", "--lease", "1m");
  CHECK(quiet.exit_code() == 75);
  CHECK(quiet.err().empty());
}

TEST_CASE("the remedy for a stale lock removes it in the same environment") {
  RedisServer redis;
  auto options = redis.environment();
  options.env["RLOCK_PREFIX"] = "app: ";
  options.env["RLOCK_URL"] = "redis://127.0.0.1:1";
  const Words server{"--url", redis.url() + "?db=2"};
  const auto tried = [&](Words words) {
    words.insert(words.end(), server.begin(), server.end());
    words.push_back("--key=-it's");
    return Rlock{words, options};
  };
  REQUIRE(tried({"lock", "acquire", "--lease", "1m"}).exit_code() == 0);
  redis.cli({"SELECT", "2"});
  REQUIRE(redis.cli({"PERSIST", "app: -it's"}) == "1");
  Rlock vain = tried({"lock", "acquire", "-n", "--lease", "1m"});
  REQUIRE(vain.exit_code() == 75);
  const std::string start = "rlock: if the holder is dead, remove the lock: rlock unlock ";
  const auto at = vain.err().find(start);
  REQUIRE(at != std::string::npos);
  const std::string remedy = line(vain.err().substr(at + start.size()));
  Process shell{{"/bin/sh", "-c", "exec " + rlock_binary() + " unlock --yes " + remedy}, options};
  CHECK(shell.exit_code() == 0);
  CHECK(tried({"lock", "status"}).exit_code() == 1);
}

TEST_CASE("a fair lock that is kept for another waiter is not called held, and unlock is no remedy") {
  RedisServer redis;
  redis.cli({"RPUSH", "redisson_lock_queue:{k}", "java:1"});
  redis.cli({"ZADD", "redisson_lock_timeout:{k}", "99999999999999", "java:1"});
  for (const std::string wait : {"0", "100ms"}) {
    Rlock acquire = redis.rlock("lock", "acquire", "k", "-w", wait, "--type", "fair", "--lease", "1m");
    CHECK(acquire.exit_code(30s) == 75);
    CHECK(contains(acquire.err(), "'k' is free, and reserved for the first waiter in its queue"));
    CHECK(acquire.err().ends_with("\nrlock: to see its waiters: rlock inspect -v k\n"));
  }
}

TEST_CASE("a waiter for an acquired lock is told why it waits, on stderr only") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m");
  Rlock quiet = redis.rlock("lock", "acquire", "-q", "deploy", "--lease", "1m");
  const auto said = [&](const std::string& text) { return contains(waiter.err(), text); };
  REQUIRE(eventually([&] { return said("rlock: waiting for 'deploy': held by "); }));
  CHECK(said("; ends in "));
  CHECK(said(", because no process renews it\n"));
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{deploy}") == 2; }));
  CHECK(quiet.err().empty());
  quiet.signal(SIGUSR1);
  CHECK(eventually([&] { return quiet.err().starts_with("rlock: waiting for 'deploy': held by "); }));
  quiet.signal(SIGTERM);
  CHECK(quiet.exit_code() == 128 + SIGTERM);

  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", owner}) == 0);
  CHECK(waiter.exit_code() == 0);
  CHECK(split(waiter.out(), '\n').size() == 2);
}

TEST_CASE("a lock without renewals is not taken for a dead holder's") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  const std::string facts = redis.cli({"HGET", "rlock:meta:{deploy}", "ci-42"});
  // As if taken 50 seconds ago: far more than half of its lease of one minute.
  const auto times = facts.find(",\"lease_ms\"");
  const long long now = std::stoll(redis.cli({"TIME"}));
  const std::string then = std::to_string(now - 50) + "000";
  redis.cli({"HSET", "rlock:meta:{deploy}", "ci-42",
             "{\"since\":" + then + ",\"renewed\":" + then + facts.substr(times)});
  redis.cli({"PEXPIRE", "deploy", "10000"});

  const auto seen = [&] {
    Rlock inspect = redis.rlock("inspect", "deploy");
    CHECK(inspect.exit_code() == 0);
    return inspect.out();
  };
  CHECK(contains(seen(), "owner ci-42, ends in "));
  CHECK(status_of(redis, {"lock", "renew", "deploy", "--owner", "ci-42"}) == 0);
  CHECK(contains(seen(), ", because no process renews it\n"));
  Rlock unlock = redis.rlock("unlock", "--yes", "deploy");
  CHECK(unlock.exit_code() == 0);
  CHECK(
      contains(unlock.err(),
               "no process renews it, and rlock cannot know whether the script that acquired it still runs"));
}

TEST_CASE("if a run has joined a hold, no message says that no process renews it") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  Rlock run{{"run", "-q", "-k", "deploy", "--owner", "ci-42", "--", "sleep", "60"}, redis.environment()};
  REQUIRE(eventually([&] { return redis.cli({"HGET", "deploy", "ci-42"}) == "2"; }));
  const auto printed = [&](const Words& words) {
    Rlock rlock{words, redis.environment()};
    static_cast<void>(rlock.exit_code());
    return rlock.out() + rlock.err();
  };
  for (const Words& words :
       {Words{"inspect", "deploy"}, Words{"lock", "acquire", "-n", "deploy", "--lease", "1m"}}) {
    const std::string text = printed(words);
    CHECK_MESSAGE(contains(text, " unless a run inside it renews it"), text);
    CHECK_FALSE_MESSAGE(contains(text, "no process renews it"), text);
  }
}
