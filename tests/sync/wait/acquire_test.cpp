// What an acquire asks of a server that answers, and which answers end its wait.

#include "sync/wait/acquire.h"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "support/list_redis.h"
#include "support/toy_acquire.h"
#include "support/toy_lock.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE("a free lock costs one question and no subscription") {
  ListRedis redis;
  redis.answers(kHeld);

  const AcquireResult got = acquire(redis, kOne, waiting(redis, 20'000ms));

  CHECK(std::holds_alternative<Acquired>(got));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire"});
  CHECK(redis.watched.empty());
}

TEST_CASE("a lease runs from a time before the acquire was written") {
  ListRedis redis;
  redis.answers(kHeld);
  const TimePoint before = redis.loop().now();

  const AcquireResult got = acquire(redis, kOne, waiting(redis, 20'000ms));

  REQUIRE(std::holds_alternative<Acquired>(got));
  CHECK(std::get<Acquired>(got).asked >= before);
  CHECK(std::get<Acquired>(got).asked <= redis.loop().now());
}

TEST_CASE("a single try asks once, and reports busy") {
  ListRedis redis;
  redis.answers(kBusy);

  CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire"});
}

TEST_CASE("a busy acquire subscribes, asks again, and stays subscribed while it holds") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);

  const AcquireResult got = acquire(redis, kOne, waiting(redis, 20'000ms));

  CHECK(std::holds_alternative<Acquired>(got));
  CHECK(redis.log.size() == 2);
  CHECK(redis.watched == std::vector<std::string>{"wake:k"});
}

TEST_CASE(
    "each acquire says how long the wait has lasted, so a server that forgot the line can give the place back") {
  ListRedis redis;
  redis.is_silent();  // a pause follows
  redis.answers(kHeld);
  const Toy toy{"k"};

  REQUIRE(
      std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 20'000ms))));
  REQUIRE(toy.waits().size() == 2);
  CHECK(toy.waits().front() < toy.waits().back());
}

TEST_CASE("an interruption ends a round that is under way") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.is_silent();
  AcquireOptions options = waiting(redis, 60'000ms);
  options.patience.interrupted = [&] { return !redis.log.empty(); };
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::interrupted);
  CHECK(elapsed(begun, redis.loop().now()) < options.round_timeout);
}

TEST_CASE("another type under the key ends the wait at once") {
  ListRedis redis;
  redis.answers(kForeign);

  const AcquireResult got = acquire(redis, kOne, waiting(redis, 60'000ms));
  CHECK(gave_up(got).why == GaveUp::Why::refused);
  CHECK(gave_up(got).refused->text == "a toy of another kind");
}

TEST_CASE("if one of several keys is busy, the taken ones are released before the wait") {
  ListRedis redis;
  const Toy a{"a"};
  const Toy b{"b"};
  const AcquireRequest request{.parts = {part_of(a), part_of(b)}};
  redis.answers(kHeld);  // a
  redis.answers(kBusy);  // b
  redis.answers(kDone);  // release a
  redis.answers(kHeld);
  redis.answers(kHeld);

  const AcquireResult got = acquire(redis, request, waiting(redis, 20'000ms));

  REQUIRE(std::holds_alternative<Acquired>(got));
  CHECK(std::get<Acquired>(got).held.size() == 2);
  CHECK(redis.log ==
        std::vector<std::string>{"toy/acquire", "toy/acquire", "toy/release", "toy/acquire", "toy/acquire"});
  CHECK(redis.watched.front() == "wake:b");
  // No copy of an acquire is on its way, so no undo is sent on abandoned connections. It could cancel the second try.
  CHECK(redis.sent_on_abandoned.empty());
}

TEST_CASE("with several queues later places are given up while we wait in an earlier one") {
  ListRedis redis;
  const Toy a{"a", true};
  const Toy b{"b", true};
  const AcquireRequest request{.parts = {part_of(a), part_of(b)}};
  redis.answers(kHeld);  // a
  redis.answers(kBusy);  // busy: we stand in its queue
  redis.answers(kDone);  // give a back
  redis.answers(kBusy);  // busy: we stand in its queue
  redis.answers(kDone);  // leave the queue of b
  redis.answers(kHeld);
  redis.answers(kHeld);

  AcquireOptions options = waiting(redis, 20'000ms);
  SUBCASE("without other identities") {}
  SUBCASE("with other request ids after an undo") {
    redis.replies_take = true;  // so the undo is known to be done when its reply has come
    options.renew_identity = [&](NewIdentity) { return request; };
  }
  CHECK(std::holds_alternative<Acquired>(acquire(redis, request, options)));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/acquire", "toy/release", "toy/acquire",
                                              "toy/release", "toy/acquire", "toy/acquire"});
}
