// --queue-limit: an rlock that would be too far behind in the queue does not wait.

#include <doctest/doctest.h>

#include <csignal>

#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/redis_server.h"
#include "support/state_home.h"

using namespace rlock::test;

namespace {

using namespace std::chrono_literals;

Words run_of(const std::string& type, Words options) {
  options.insert(options.begin(), {"run", "--type", type, "-k", "deploy"});
  if (type == "permit") options.insert(options.end(), {"--permits", "1"});
  options.insert(options.end(), {"--", "true"});
  return options;
}

/// The output of rlock inspect about the key: "lock, held, 2 wait".
std::string seen(const RedisServer& redis, const std::string& key = "deploy") {
  Rlock inspect{{"inspect", key}, redis.environment()};
  CHECK(inspect.exit_code() == 0);
  return inspect.out();
}

}  // namespace

TEST_CASE("a run behind too many waiters exits with 75 at once, and leaves no place behind") {
  for (const std::string type : {"lock", "fair", "fenced", "write", "permit"}) {
    CAPTURE(type);
    RedisServer redis;
    TempDir folder;
    Words holding = run_of(type, {"-q"});
    holding.back() = "sleep";
    holding.emplace_back("60");
    Rlock holder{holding, redis.environment()};
    REQUIRE(eventually([&] { return redis.has("rlock:meta:{deploy}"); }));
    Rlock first{run_of(type, {"-q"}), redis.environment()};
    REQUIRE(eventually([&] { return contains(seen(redis), ", 1 waits"); }, 10s));
    Rlock second{run_of(type, {"-q", "--queue-limit", "2"}), redis.environment()};
    REQUIRE(eventually([&] { return contains(seen(redis), ", 2 wait"); }, 10s));

    Rlock third{run_of(type, {"--queue-limit", "2", "--status-file", folder / "status"}),
                redis.environment()};
    CHECK(third.exit_code() == 75);
    CHECK_MESSAGE(
        contains(
            third.err(),
            "not waiting for 'deploy': the lock is busy, and 2 waiters are in its queue (--queue-limit 2)"),
        third.err());
    CHECK(contains(read_file(folder / "status"), "\"outcome\":\"busy\",\"exit\":75"));
    CHECK_MESSAGE(contains(seen(redis), ", 2 wait"), seen(redis));

    holder.signal(SIGTERM);
    CHECK(first.exit_code(20s) == 0);
    CHECK(second.exit_code(20s) == 0);
  }
}

TEST_CASE("with a limit of 0 a run never waits, takes a free lock, and keeps the status of -E") {
  RedisServer redis;
  CHECK(status_of(redis, run_of("lock", {"--queue-limit", "0"})) == 0);
  CHECK(status_of(redis, {"lock", "acquire", "deploy", "--lease", "1m", "--queue-limit", "0"}) == 0);
  CHECK(status_of(redis, run_of("lock", {"--queue-limit", "0"})) == 75);
  CHECK(status_of(redis, run_of("lock", {"--queue-limit", "0", "-E", "9"})) == 9);
  CHECK(status_of(redis, run_of("lock", {"--queue-limit", "0", "-w", "1m"})) == 75);
  CHECK(status_of(redis, run_of("lock", {"--queue-limit", "5", "-n"})) == 75);
  Rlock quiet{run_of("lock", {"--queue-limit", "0", "-q"}), redis.environment()};
  CHECK(quiet.exit_code() == 75);
  CHECK(quiet.err().empty());
  Rlock asked{{"lock", "acquire", "deploy", "--lease", "1m", "--queue-limit", "0", "--json"},
              redis.environment()};
  CHECK(asked.exit_code() == 75);
  CHECK_MESSAGE(contains(asked.out(), R"({"v":1,"outcome":"busy","key":"deploy")"), asked.out());
  CHECK_FALSE_MESSAGE(contains(seen(redis), "wait"), seen(redis));
}

TEST_CASE("with several keys the line of the busy one counts") {
  RedisServer redis;
  Rlock holder = redis.rlock("run", "-q", "-k", "b", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{b}"); }));
  Rlock refused = redis.rlock("run", "-k", "a", "-k", "b", "--queue-limit", "0", "--", "true");
  CHECK(refused.exit_code() == 75);
  CHECK_FALSE(redis.has("a"));
  holder.signal(SIGTERM);
  CHECK(holder.exit_code() == 143);
}

TEST_CASE("with several keys, the line of a key that becomes the busy one later counts, too") {
  RedisServer redis;
  Rlock first = redis.rlock("run", "-q", "-k", "a", "--", "sleep", "60");
  Rlock second = redis.rlock("run", "-q", "-k", "b", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{a}") && redis.has("rlock:meta:{b}"); }));
  Rlock waiter = redis.rlock("run", "-q", "-k", "b", "--", "true");
  REQUIRE(eventually([&] { return contains(seen(redis, "b"), ", 1 waits"); }, 10s));
  Rlock both = redis.rlock("run", "-k", "a", "-k", "b", "--queue-limit", "1", "--", "echo", "got");
  REQUIRE(eventually([&] { return contains(seen(redis, "a"), ", 1 waits"); }, 10s));
  first.signal(SIGTERM);
  CHECK(both.exit_code() == 75);
  CHECK(both.out().empty());
  CHECK_MESSAGE(contains(both.err(), "1 waiter is in its queue (--queue-limit 1)"), both.err());
  CHECK_FALSE(redis.has("a"));
  second.signal(SIGTERM);
  CHECK(waiter.exit_code(20s) == 0);
}

TEST_CASE("without a line of waiters --queue-limit is refused, and nothing is sent") {
  RedisServer redis;
  for (const std::string type : {"spin", "plain"}) {
    Rlock refused{run_of(type, {"--queue-limit", "1"}), redis.environment()};
    CHECK(refused.exit_code() == 64);
    CHECK_MESSAGE(
        contains(refused.err(), "--queue-limit with --type " + type + ": its waiters have no queue"),
        refused.err());
  }
  for (const std::string value : {"-1", "many", ""}) {
    CAPTURE(value);
    CHECK(status_of(redis, run_of("lock", {"--queue-limit=" + value})) == 64);
  }
  Masters three{3};
  Rlock several = three.rlock("run", "-k", "deploy", "--queue-limit", "1", "--", "true");
  CHECK(several.exit_code() == 64);
  CHECK_MESSAGE(contains(several.err(), "--queue-limit with several servers"), several.err());
  CHECK_FALSE(redis.has("deploy"));
}
