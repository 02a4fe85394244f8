// rlock lock acquire in scripts.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "scripts.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/tcp_proxy.h"

using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("acquire prints the owner and nothing else, and release takes it") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  CHECK(redis.cli({"HGET", "deploy", owner}) == "1");
  CHECK(redis.pttl("deploy") > 50'000);
  CHECK(redis.pttl("deploy") <= 60'000);

  Rlock release = redis.rlock("lock", "release", "deploy", "--owner", owner);
  CHECK(release.exit_code() == 0);
  CHECK(release.out().empty());
  CHECK(release.err().empty());
  CHECK_FALSE(redis.has("deploy"));
  CHECK(redis.cli({"HLEN", "rlock:meta:{deploy}"}) == "0");
}

TEST_CASE("a lease that is over before any answer is refused") {
  RedisServer redis;
  Rlock acquire = redis.rlock("lock", "acquire", "deploy", "--lease", "2ms");
  CHECK(acquire.exit_code() == 78);
  CHECK(acquire.err() == "rlock: --lease 2ms is over before any answer; it needs 3ms or more\n");
}

TEST_CASE("a lock whose lease is over when its answer comes is not handed out") {
  RedisServer redis;
  TcpProxy proxy{"unix:" + redis.socket()};
  proxy.delay(TcpProxy::Way::to_client, 250ms);
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] = proxy.url();
  Rlock acquire{{"lock", "acquire", "-n", "deploy", "--lease", "200ms"}, options};
  CHECK(acquire.exit_code() == 69);
  CHECK(acquire.out().empty());
}

TEST_CASE("if the server no longer has the script for the facts, they are sent again before acquire ends") {
  // acquire waits for at most 200 ms, which may be too short on a busy machine. So one success in some tries is enough.
  CHECK(eventually([] {
    FakeRedis redis;
    redis.on("EVAL", wire::nil());
    redis.decide([](const Words& command) -> std::optional<std::string> {
      const bool facts = std::ranges::find(command, "rlock:meta:{k}") != command.end();
      if (command.front() != "EVALSHA" || facts) return std::nullopt;  // the facts wait for an answer
      return wire::array({wire::text("held"), wire::integer(1'700'000'000'000)});
    });
    Process::Options options = Rlock::clean_environment();
    options.env["RLOCK_URL"] = redis.url();
    Rlock acquire{{"lock", "acquire", "-n", "k", "--lease", "1m"}, options};
    REQUIRE(eventually([&] { return !acquire.out().empty(); }));
    redis.answer(wire::error("NOSCRIPT No matching script."));
    CHECK(acquire.exit_code() == 0);
    return redis.count("EVAL") == 1;
  }));
}

TEST_CASE("acquire takes the switches of run for its types, and two that differ are refused") {
  RedisServer redis;
  acquired(redis, "shared", {"-s"});
  acquired(redis, "shared", {"--read"});
  acquired(redis, "alone", {"-x"});
  acquired(redis, "fair", {"--fair"});
  acquired(redis, "fenced", {"--fenced"});
  CHECK(redis.cli({"HGET", "shared", "mode"}) == "read");
  CHECK(redis.cli({"HGET", "alone", "mode"}) == "write");
  Rlock refused{{"lock", "acquire", "-n", "alone", "--lease", "1m"}, redis.environment()};
  CHECK(refused.exit_code() == 65);
  CHECK(contains(refused.err(), "take it with --write (-x) or --read (-s)"));
  Rlock both{{"lock", "acquire", "k", "--lease", "1m", "--fair", "--type", "read"}, redis.environment()};
  CHECK(both.exit_code() == 64);
  CHECK(both.err() == "rlock: --type: contradicts --fair (--type fair)\n");
}

TEST_CASE("acquire without a lease is refused, and nothing is sent") {
  RedisServer redis;
  Monitor monitor{redis};
  Rlock acquire = redis.rlock("lock", "acquire", "deploy");
  CHECK(acquire.exit_code() == 64);
  CHECK(acquire.err() ==
        "rlock: --lease is missing: no process renews this lock, so rlock needs to know when it ends; "
        "or use --while-pid $$, or rlock run -k KEY -- COMMAND\n");
  CHECK(monitor.commands().empty());
}

TEST_CASE("acquire waits for a release") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{deploy}") == 1; }));
  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", owner}) == 0);
  CHECK(waiter.exit_code() == 0);
  CHECK(redis.cli({"HEXISTS", "deploy", line(waiter.out())}) == "1");
}

TEST_CASE("an owner that already holds the key gets a new lease, and the count stays") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  redis.cli({"PEXPIRE", "deploy", "1000"});
  CHECK(acquired(redis, "deploy", {"--owner", "ci-42"}) == "ci-42");
  CHECK(redis.pttl("deploy") > 50'000);
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "1");
}

TEST_CASE("a failed acquire leaves its owner's earlier holds alone") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  redis.freeze();
  CHECK(status_of(redis, {"lock", "acquire", "-n", "deploy", "--lease", "1m", "--owner", "ci-42"}) == 69);
  redis.thaw();
  CHECK(throughout([&] { return redis.cli({"HGET", "deploy", "ci-42"}) == "1"; }, 200ms));

  Process::Options mute = redis.environment();
  mute.closed = {1};
  Rlock acquire{{"lock", "acquire", "deploy", "--lease", "1m", "--owner", "ci-42"}, mute};
  CHECK(acquire.exit_code() == 71);
  CHECK(contains(acquire.err(), "'deploy' stays held, as it was before"));
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "1");
}

TEST_CASE("--again counts one more hold, and each hold is released by itself") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42", "--again"});
  acquired(redis, "deploy", {"--owner", "ci-42", "--again"});
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "2");

  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "ci-42"}) == 0);
  CHECK(redis.cli({"HGET", "deploy", "ci-42"}) == "1");
  CHECK(redis.cli({"HEXISTS", "rlock:meta:{deploy}", "ci-42"}) == "1");
  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "ci-42"}) == 0);
  CHECK_FALSE(redis.has("deploy"));
  CHECK(status_of(redis, {"lock", "release", "deploy", "--owner", "ci-42"}) == 1);
}

TEST_CASE("--again is refused where holds are not counted, since one release would free them all") {
  RedisServer redis;
  for (const std::string type : {"plain", "permit"}) {
    Rlock acquire =
        redis.rlock("lock", "acquire", "k", "--lease", "1m", "--type", type, "--owner", "me", "--again");
    CHECK(acquire.exit_code() == 64);
    CHECK(acquire.err().starts_with("rlock: --again with --type " + type + ": "));
  }
  CHECK(redis.keys().empty());
}

TEST_CASE("an owner id that would make a plain lock look like a semaphore is refused, and takes nothing") {
  RedisServer redis;
  for (const std::string id : {"4711", "-1", "1234567890123456"}) {
    Rlock acquire = redis.rlock("lock", "acquire", "k", "--lease", "1m", "--type", "plain", "--owner=" + id);
    CHECK(acquire.exit_code() == 64);
    CHECK(contains(acquire.err(), "would look like a semaphore"));
  }
  CHECK(redis.keys().empty());
  for (const std::string id : {"id-4711", "12345678901234567"}) {
    acquired(redis, "k", {"--type", "plain", "--owner", id});
    CHECK(status_of(redis, {"lock", "release", "k", "--owner", id}) == 0);
  }
  acquired(redis, "k", {"--owner", "4711"});
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", "4711"}) == 0);
}

TEST_CASE("a verb that takes only one key refuses a second --key, and does not use it instead of the first") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "status", "-k", "a", "-k", "b"}) == 64);
  CHECK(status_of(redis, {"sem", "init", "-k", "a", "-k", "b", "1"}) == 64);
  CHECK(redis.keys().empty());
}

TEST_CASE("during a wait for several keys an owner keeps its earlier holds, and holds no others") {
  RedisServer redis;
  acquired(redis, "a", {"--owner", "ci-42"});
  acquired(redis, "c", {"--owner", "other"});
  const Words words{"lock", "acquire", "a", "b", "c", "--lease", "1m", "--owner", "ci-42"};
  Words brief = words;
  brief.insert(brief.end(), {"-w", "1s"});
  CHECK(status_of(redis, brief) == 75);
  CHECK(redis.cli({"HGET", "a", "ci-42"}) == "1");
  CHECK_FALSE(redis.has("b"));

  Rlock waits{words, redis.environment()};
  REQUIRE(eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{c}:line"}) == "1"; }));
  CHECK(redis.cli({"HGET", "a", "ci-42"}) == "1");
  CHECK_FALSE(redis.has("b"));
  waits.signal(SIGTERM);
  CHECK(waits.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"HGET", "a", "ci-42"}) == "1");
  CHECK_FALSE(redis.has("b"));

  Rlock gets{words, redis.environment()};
  REQUIRE(eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{c}:line"}) == "1"; }));
  CHECK(status_of(redis, {"lock", "release", "c", "--owner", "other"}) == 0);
  CHECK(gets.exit_code() == 0);
  for (const std::string key : {"a", "b", "c"}) {
    CHECK(redis.cli({"HGET", key, "ci-42"}) == "1");
    CHECK(status_of(redis, {"lock", "release", key, "--owner", "ci-42"}) == 0);
    CHECK_FALSE(redis.has(key));
  }
}

TEST_CASE("an acquire asks once more if another one of the same owner has made its request outdated") {
  FakeRedis redis;
  std::atomic<int> asked = 0;
  redis.decide([&](const Words& command) -> std::optional<std::string> {
    if (command.front() != "EVALSHA") return std::nullopt;
    if (command[1] != rlock::scripts::lock_acquire.sha1) return wire::array({wire::text("not_ours")});
    if (++asked == 1) return wire::array({wire::text("not_ours")});
    return wire::array({wire::text("held"), wire::integer(1000)});
  });
  Rlock acquire{{"lock", "acquire", "k", "--owner", "me", "--lease", "1m", "-u", redis.url()}};
  CHECK(acquire.exit_code() == 0);
  CHECK(acquire.out() == "me\n");
  CHECK(asked == 2);
}

TEST_CASE("--again adds a hold to each key that the owner holds, and acquires the others") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "write"}) {
    CAPTURE(type);
    const auto acquire = [&](Words words) {
      words.insert(words.end(), {"--type", type, "--owner", "me", "--lease", "1m"});
      return status_of(redis, std::move(words));
    };
    CHECK(acquire({"lock", "acquire", "a"}) == 0);
    CHECK(acquire({"lock", "acquire", "a", "b", "c", "--again"}) == 0);
    CHECK(status_of(redis, {"lock", "release", "a", "b", "c", "--owner", "me"}) == 0);
    CHECK(redis.has("a"));  // the first hold
    CHECK_FALSE(redis.has("b"));
    CHECK_FALSE(redis.has("c"));
    CHECK(status_of(redis, {"lock", "release", "a", "--owner", "me"}) == 0);
    CHECK_FALSE(redis.has("a"));
  }
}

TEST_CASE("--json tells all facts of an acquire") {
  RedisServer redis;
  Rlock acquire = redis.rlock("lock", "acquire", "deploy", "--lease", "90s", "--owner", "me", "--type",
                              "fenced", "--json");
  CHECK(acquire.exit_code() == 0);
  CHECK(acquire.out().starts_with(
      R"({"v":1,"key":"deploy","name":"deploy","type":"fenced","owner":"me","fence":1,"slots":null,"lease_ms":90000,"acquired_at":)"));
}

TEST_CASE("acquire takes several permits of a pool, says their slots, and release gives all of them back") {
  RedisServer redis;
  const auto ended = [&](Words words) {
    Rlock rlock{std::move(words), redis.environment()};
    const int status = rlock.exit_code();
    return std::pair{status, rlock.out()};
  };
  const auto [status, document] = ended({"lock", "acquire", "seats", "--lease", "1m", "--permits", "5",
                                         "--count", "2", "--owner", "me", "--json"});
  REQUIRE(status == 0);
  CHECK(contains(document, R"("type":"permit","owner":"me","fence":null,"slots":[0,1],)"));
  CHECK(redis.cli({"GET", "seats"}) == "3");
  const auto [exported, text] =
      ended({"lock", "acquire", "seats", "--lease", "1m", "--count", "3", "--owner", "you", "--export"});
  CHECK(exported == 0);
  CHECK(contains(text, "RLOCK_SLOT='2'"));
  CHECK(contains(text, "RLOCK_SLOTS='2\n3\n4'"));
  CHECK(ended({"lock", "acquire", "-n", "seats", "--lease", "1m", "--count", "1"}).first == 75);
  CHECK(ended({"lock", "release", "seats", "--owner", "me"}).first == 0);
  CHECK(redis.cli({"GET", "seats"}) == "2");
  CHECK(ended({"lock", "acquire", "seats", "--lease", "1m", "--permits", "2", "--count", "3"}).first == 64);
  CHECK(ended({"lock", "acquire", "seats", "--lease", "1m", "--count", "2", "--fair"}).first == 64);
}

TEST_CASE("acquire takes several keys, shows the reason in inspect, and --json names the holder") {
  RedisServer redis;
  const std::string owner = acquired(redis, "b", {"a", "--reason", "the night shift", "--label", "team=dba"});
  CHECK(redis.has("a"));
  Rlock inspect = redis.rlock("inspect", "--json", "a");
  CHECK(inspect.exit_code() == 0);
  CHECK(contains(inspect.out(), "\"reason\":\"the night shift\""));
  CHECK(contains(inspect.out(), "\"team\":\"dba\""));
  Rlock busy = redis.rlock("lock", "acquire", "-n", "a", "c", "--lease", "1m", "--json");
  CHECK(busy.exit_code() == 75);
  CHECK(busy.out().starts_with(
      "{\"v\":1,\"outcome\":\"busy\",\"key\":\"a\",\"name\":\"a\",\"holders\":[{\"owner\":\"" + owner));
  CHECK_FALSE(redis.has("c"));
  Rlock held = redis.rlock("lock", "acquire", "x", "y", "--lease", "1m", "--json");
  CHECK(held.exit_code() == 0);
  CHECK(held.out().starts_with("{\"v\":1,\"key\":null,\"name\":null,\"type\":\"lock\""));
  CHECK(contains(held.out(), "\"outcome\":\"held\",\"keys\":[\"x\",\"y\"]}"));
  CHECK(status_of(redis, {"lock", "acquire", "-n", "r", "--lease", "1m", "--sync-replicas", "1"}) == 69);
  CHECK_FALSE(redis.has("r"));
}

TEST_CASE("a wait that a signal ends dies of it, and its place in the queue is given back") {
  RedisServer redis;
  acquired(redis, "deploy", {"--type", "fair"});
  Rlock waiter = redis.rlock("lock", "acquire", "deploy", "--lease", "1m", "--type", "fair");
  REQUIRE(eventually([&] { return redis.cli({"LLEN", "redisson_lock_queue:{deploy}"}) == "1"; }));
  waiter.signal(SIGTERM);
  CHECK(waiter.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"LLEN", "redisson_lock_queue:{deploy}"}) == "0");
}
