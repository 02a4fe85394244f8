// Many waiters for one semaphore: which of them a permit wakes, how many requests that costs, and what other
// verbs show of them.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <nlohmann/json.hpp>
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

namespace {

/// `count` processes `rlock sem acquire`, started one after the other, which wait for "slots".
struct Queue {
  explicit Queue(RedisServer& redis, int count) : redis_(redis) {
    for (int i = 0; i < count; ++i) {
      waiters.emplace_back(Words{"sem", "acquire", "-q", "-w", "60s", "slots"}, redis.environment());
      REQUIRE(eventually([&] { return length() == i + 1 && listening() == i + 1; }, 20s));
    }
  }
  long long length() { return std::stoll(redis_.cli({"ZCARD", "redisson_unlock_latch:{slots}:line"})); }
  long long listening() {
    const Words channels = split(redis_.cli({"PUBSUB", "CHANNELS", "redisson_sc:{slots}:?*"}), '\n');
    return static_cast<long long>(
        std::ranges::count_if(channels, [](const auto& name) { return !name.empty(); }));
  }

  std::list<Rlock> waiters;

 private:
  RedisServer& redis_;
};

}  // namespace

TEST_CASE("each permit of a semaphore wakes one of ten waiters, and costs it no more than two requests") {
  RedisServer redis;
  CHECK(status_of(redis, {"sem", "init", "slots", "0"}) == 0);
  Queue queue{redis, 10};
  Monitor monitor{redis};
  const auto served = [&] {
    return std::ranges::count_if(queue.waiters, [](Rlock& waiter) { return !waiter.running(); });
  };
  for (int i = 1; i <= 9; ++i) {
    CHECK(status_of(redis, {"sem", "release", "slots"}) == 0);
    REQUIRE(eventually([&] { return served() >= i; }, 20s));
    CHECK(served() == i);
  }
  const auto asks = std::ranges::count_if(monitor.commands(), [](const std::string& command) {
    return contains(command, "redisson_unlock_latch:{slots}:line\"");
  });
  // Each of the nine permits costs three requests: the release, one of the winner, and one of the next
  // waiter. On a busy machine a waiter that counted as frozen asks, too. If every waiter asked, there would
  // be 63 requests.
  CHECK(asks <= 45);

  // The last waiter hears that the semaphore was deleted.
  CHECK(status_of(redis, {"sem", "delete", "-y", "slots"}) == 0);
  CHECK(eventually([&] { return served() == 10; }, 20s));
  CHECK(std::ranges::count_if(queue.waiters, [](Rlock& waiter) { return waiter.exit_code() == 1; }) == 1);
  CHECK_FALSE(redis.has("redisson_unlock_latch:{slots}:line"));
}

TEST_CASE("inspect lists the waiters of a semaphore in their order") {
  RedisServer redis;
  CHECK(status_of(redis, {"sem", "init", "slots", "0"}) == 0);
  Queue queue{redis, 2};
  Rlock inspect = redis.rlock("inspect", "--json", "slots");
  CHECK(inspect.exit_code() == 0);
  const auto waiters = nlohmann::json::parse(inspect.out())["keys"][0]["waiters"];
  REQUIRE(waiters.size() == 2);
  CHECK(waiters[0]["position"] == 1);
  CHECK(waiters[1]["position"] == 2);
  for (const auto& waiter : waiters) {
    REQUIRE(waiter["meta"].is_object());
    CHECK(waiter["meta"]["pid"] == ::getpid());  // the pid of the calling script
  }
  CHECK(waiters[0]["since"] <= waiters[1]["since"]);
}

TEST_CASE("with --await-init rlock waits for a missing semaphore") {
  RedisServer redis;
  Rlock waiter{{"sem", "acquire", "slots", "--await-init", "-w", "60s"}, redis.environment()};
  REQUIRE(eventually([&] { return redis.has("redisson_unlock_latch:{slots}:line"); }, 20s));
  CHECK(status_of(redis, {"sem", "acquire", "slots", "--await-init", "-n"}) == 75);
  CHECK(status_of(redis, {"sem", "init", "slots", "0", "--expire", "1h"}) == 0);
  CHECK(status_of(redis, {"sem", "add", "slots", "--", "-1"}) == 0);
  CHECK(redis.cli({"GET", "slots"}) == "-1");
  CHECK(waiter.running());
  CHECK(status_of(redis, {"sem", "add", "slots", "2"}) == 0);
  CHECK(waiter.exit_code() == 0);
  CHECK(redis.pttl("slots") > 3000000);
}
