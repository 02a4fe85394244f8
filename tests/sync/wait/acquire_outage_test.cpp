// A wait whose servers fail: how long it goes on, and which of the failures its end tells.

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/contains.h"
#include "support/list_redis.h"
#include "support/toy_acquire.h"
#include "support/toy_lock.h"
#include "sync/wait/acquire.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

/// A toy whose first acquire is written, and no other one: the time is over before.
class ToyAskedOnce final : public Toy {
 public:
  ToyAskedOnce(ListRedis& redis, std::string name) : Toy(std::move(name)), redis_(redis) {}
  Call encode(Milliseconds waited) const override {
    redis_.attempts = std::exchange(time_is_left_, false) ? 1 : 0;
    return Toy::encode(waited);
  }

 private:
  ListRedis& redis_;
  mutable bool time_is_left_ = true;
};

}  // namespace

TEST_CASE("a wait that heard busy stays busy if its end cuts the next round short") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.answers(kBusy);

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 30ms))).why == GaveUp::Why::busy);
}

TEST_CASE(
    "if a server fails after it has said busy, the wait ends as unreachable, and keeps the busy answer, too") {
  ListRedis redis;
  redis.answers(kBusy);
  for (int i = 0; i < 10; ++i) redis.answers(Reply::error("LOADING Redis is loading the dataset in memory"));

  const AcquireResult got = acquire(redis, kOne, waiting(redis, 300ms));
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  REQUIRE(gave_up(got).failure.has_value());
  CHECK(contains(gave_up(got).failure->text, "still loading"));
  CHECK(gave_up(got).busy.has_value());
}

TEST_CASE("a server that is loading its data at the first contact is given up after first_contact") {
  ListRedis redis;
  for (int i = 0; i < 1000; ++i)
    redis.answers(Reply::error("LOADING Redis is loading the dataset in memory"));
  AcquireOptions options = waiting(redis, 60'000ms);
  options.first_contact = 200ms;
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) >= 200ms);
  CHECK(elapsed(begun, redis.loop().now()) < 1000ms);
}

TEST_CASE("an outage in the middle of a wait ends the wait after `outage`, counted from the outage's begin") {
  ListRedis redis;
  const Reply loading = Reply::error("LOADING Redis is loading the dataset in memory");
  AcquireOptions options = waiting(redis, 60'000ms);
  options.first_contact = 0ms;
  options.outage = 200ms;
  redis.answers(kBusy);
  redis.answers(loading);  // retried
  redis.answers(kBusy);
  for (int i = 0; i < 1000; ++i) redis.answers(loading);
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) >= 200ms);
  CHECK(elapsed(begun, redis.loop().now()) < 1000ms);
}

TEST_CASE("no server is asked when an outage is over, because there is no time for an answer") {
  /// Notes when it was asked last.
  struct ToyWithTime final : Toy {
    explicit ToyWithTime(ListRedis& server) : Toy("k"), redis(server) {}
    Call encode(Milliseconds waited) const override {
      asked = redis.loop().now();
      return Toy::encode(waited);
    }
    ListRedis& redis;
    mutable TimePoint asked{};
  };
  ListRedis redis;
  for (int i = 0; i < 1000; ++i) redis.answers(Reply::error("ERR Unknown Redis command called from script"));
  AcquireOptions options = waiting(redis, 60'000ms);
  options.first_contact = 200ms;
  const ToyWithTime toy{redis};
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, {.parts = {part_of(toy)}}, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) == 200ms);
  CHECK(elapsed(begun, toy.asked) < 200ms);
}

TEST_CASE("an outage is counted anew after the server has answered") {
  ListRedis redis;
  const Reply loading = Reply::error("LOADING Redis is loading the dataset in memory");
  redis.answers(loading);
  for (int i = 0; i < 200; ++i) redis.answers(kBusy);
  for (int i = 0; i < 1000; ++i) redis.answers(loading);
  AcquireOptions options = waiting(redis, 60'000ms);
  options.outage = 200ms;
  TimePoint answered{};
  options.report = [&](const Waiting& told) {
    if (told.failure == nullptr) answered = redis.loop().now();
  };

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(answered, redis.loop().now()) >= 200ms);
}

TEST_CASE("a server that denies us ends the wait at once") {
  ListRedis redis;
  redis.answers(Reply::error("NOAUTH Authentication required."));

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 60'000ms))).failure->kind == Error::denied);
  CHECK(std::ranges::count(redis.log, "toy/acquire") == 1);
}

TEST_CASE("the pause after a failure ends with the wait") {
  ListRedis redis;
  redis.answers(Reply::error("LOADING Redis is loading the dataset in memory"));
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 20ms))).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) == 20ms);
}

TEST_CASE("a wait that gave up tells whether a server was busy during it") {
  ListRedis redis;
  bool busy = false;
  SUBCASE("never") {}
  SUBCASE("at first") { busy = true; }
  if (busy) redis.answers(kBusy);
  for (int i = 0; i < 10; ++i) redis.answers(Reply::error("LOADING Redis is loading the dataset in memory"));

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 300ms))).seen_busy == busy);
}

TEST_CASE("a round that the end of the wait cuts short does not hide the server's earlier answer") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.answers(Reply::error("NOSCRIPT No matching script."));
  redis.is_silent();

  const AcquireResult got = acquire(redis, kOne, waiting(redis, 200ms));

  REQUIRE(redis.log.size() == 3);  // the second acquire was cut short, and undone
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  REQUIRE(gave_up(got).failure.has_value());
  CHECK(contains(gave_up(got).failure->text, "does not keep the scripts"));
}

TEST_CASE("a round whose time is over before its last key was asked for does not hide that the key is busy") {
  ListRedis redis{3};
  redis.silence_lasts = true;
  const ToyWrittenAgain first{redis, "a"};
  const ToyAskedOnce last{redis, "b"};
  redis.answers(kHeld);
  redis.answers(kBusy);
  redis.answers(kDone);
  redis.answers(kHeld);
  redis.is_silent();
  const AcquireResult got = acquire(redis, {.parts = {part_of(first), part_of(last)}}, waiting(redis, 200ms));
  CHECK(gave_up(got).why == GaveUp::Why::busy);
}

TEST_CASE("a round that the end of an outage cuts short does not hide what a node has said") {
  ListRedis redis{3};
  redis.silence_lasts = true;
  redis.answers(
      {kHeld, Reply::error("NOAUTH Authentication required."), Reply::error("LOADING Redis is loading")});
  redis.answers(kDone);  // the undo
  redis.is_silent();
  AcquireOptions options = waiting(redis, 60'000ms);
  options.first_contact = 200ms;

  const AcquireResult got = acquire(redis, kOne, options);
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  REQUIRE(gave_up(got).failure.has_value());
  CHECK(gave_up(got).failure->text.find("no quorum: 1 of 3 servers answers") == 0);
  CHECK(contains(gave_up(got).failure->text, "node 2: the server asks for a password"));
}

TEST_CASE("a round with its full time gives the reason of the failure, not an earlier round") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.answers(Reply::error("NOSCRIPT No matching script."));
  redis.is_silent();
  AcquireOptions options = waiting(redis, 60'000ms);
  options.round_timeout = 20ms;
  std::optional<TimePoint> second;
  options.patience.interrupted = [&] {
    if (redis.log.size() < 2) return false;
    if (!second) second = redis.loop().now();
    return redis.loop().now() >= *second + options.round_timeout;
  };

  const AcquireResult got = acquire(redis, kOne, options);

  REQUIRE(gave_up(got).failure.has_value());
  CHECK(gave_up(got).failure->text == "no answer");
}

TEST_CASE("without a wait a server that cannot be reached is given up at once") {
  ListRedis redis;
  redis.persistent = false;
  redis.is_silent();

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 60'000ms))).why == GaveUp::Why::unreachable);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release"});
}

TEST_CASE("a round ends with the time of an outage, however long it may take") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.is_silent();
  AcquireOptions options = waiting(redis, 60'000ms);
  options.first_contact = 200ms;
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) < options.round_timeout);
}
