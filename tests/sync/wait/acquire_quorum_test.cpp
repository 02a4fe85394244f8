// Whether the servers that grant a lock are enough, and their replicas.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/list_redis.h"
#include "support/toy_acquire.h"
#include "support/toy_lock.h"
#include "sync/wait/acquire.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE("in a round, a single server is asked until the end, and one of several only once") {
  for (const std::size_t nodes : {1U, 3U}) {
    ListRedis redis{nodes};
    redis.answers(kHeld);
    CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, waiting(redis, 20'000ms))));
    CHECK((redis.deliveries.front().retry == Delivery::Retry::until_deadline) == (nodes == 1));
  }
}

TEST_CASE("of five nodes three are enough; two are not, and are released") {
  ListRedis redis{5};
  SUBCASE("three") {
    redis.answers({kHeld, kHeld, kHeld, std::nullopt, kBusy});
    const AcquireResult got = acquire(redis, kOne, single_attempt());
    REQUIRE(std::holds_alternative<Acquired>(got));
    const std::vector<Answer> answers{Answer::granted, Answer::granted, Answer::granted, Answer::failed,
                                      Answer::busy};
    CHECK(std::get<Acquired>(got).answers == answers);
  }
  SUBCASE("two") {
    redis.answers({kHeld, kHeld, std::nullopt, std::nullopt, kBusy});
    CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
    CHECK(redis.log.back() == "toy/release");
  }
  SUBCASE("two, and the others are busy") {
    redis.answers({kHeld, kHeld, kBusy, kBusy, kBusy});
    CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
    CHECK(redis.log.back() == "toy/release");
  }
  SUBCASE("nobody") {
    redis.is_silent();
    CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::unreachable);
    CHECK(redis.log.back() == "toy/release");
  }
}

TEST_CASE("a node counts as granting only if it granted every key") {
  ListRedis redis{3};
  const Toy a{"a"};
  const Toy b{"b"};
  redis.answers(kHeld);
  redis.answers({kHeld, kBusy, kHeld});

  const AcquireResult got = acquire(redis, {.parts = {part_of(a), part_of(b)}}, waiting(redis, 20'000ms));
  REQUIRE(std::holds_alternative<Acquired>(got));
  CHECK(std::get<Acquired>(got).answers == std::vector{Answer::granted, Answer::busy, Answer::granted});
}

TEST_CASE("two nodes that are one server are no quorum, whatever they answer") {
  ListRedis redis{3};
  redis.twice = Failure{Error::unreachable, "node 1 and node 2 are one server"};
  SUBCASE("granted") { redis.answers(kHeld); }
  SUBCASE("busy") { redis.answers(kBusy); }
  SUBCASE("refused") { redis.answers(kForeign); }

  const AcquireResult got = acquire(redis, kOne, single_attempt());
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  CHECK(gave_up(got).failure->text == redis.twice->text);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release"});
}

TEST_CASE("after a split vote no message ends the pause: other contenders pause, too") {
  ListRedis redis{3};
  redis.answers({kHeld, kBusy, std::nullopt});
  redis.answers(kDone);
  redis.answers(kHeld);
  AcquireOptions options = waiting(redis, 20'000ms);
  options.report = [&](const Waiting&) { ++redis.messages; };
  const TimePoint begun = redis.loop().now();

  CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
  CHECK(elapsed(begun, redis.loop().now()) >= 5ms);
}

TEST_CASE("with several nodes a message is answered after a random pause, because all waiters hear it") {
  ListRedis redis{3};
  for (int i = 0; i < 50; ++i) redis.answers(kBusy);
  redis.answers(kHeld);
  AcquireOptions options = waiting(redis, 60'000ms);
  options.report = [&](const Waiting&) { ++redis.messages; };
  const TimePoint begun = redis.loop().now();

  CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
  CHECK(elapsed(begun, redis.loop().now()) > 50ms);  // fifty pauses of 0 to 10 ms
  CHECK(elapsed(begun, redis.loop().now()) <= 500ms);
}

TEST_CASE("one of several nodes may delay a round by a twentieth of the lease, but not less than 100 ms") {
  CHECK(node_timeout(60'000ms, 4000ms) == 3000ms);
  CHECK(node_timeout(600'000ms, 4000ms) == 4000ms);
  CHECK(node_timeout(300ms, 4000ms) == 100ms);
}

TEST_CASE("a lock that too few replicas have is given back and does not count as busy") {
  ListRedis redis;
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT
  AcquireOptions options = single_attempt();
  options.sync_replicas.count = 1;

  const AcquireResult got = acquire(redis, kOne, options);
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "WAIT", "toy/release"});
}

TEST_CASE("nothing is held between two tries when too few replicas have it") {
  ListRedis redis;
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT: no replica
  redis.answers(kDone);
  redis.answers(kHeld);
  redis.answers(Reply{1});
  AcquireOptions options = waiting(redis, 20'000ms);
  options.sync_replicas.count = 1;

  CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "WAIT", "toy/release", "toy/acquire", "WAIT"});
}

TEST_CASE("a server among several that denies us does not hide that the others are busy") {
  ListRedis redis{3};
  redis.answers({kBusy, Reply::error("WRONGPASS invalid username-password pair"), kBusy});

  CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
}
