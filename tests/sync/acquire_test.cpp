#include "sync/wait/acquire.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/list_redis.h"
#include "support/toy_lock.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const Toy kToy{"k"};
const Wish kOne{.parts = {part_of(kToy)}};

AcquireOptions waiting(const ListRedis& redis, Milliseconds patience) {
  AcquireOptions options;
  options.patience = redis.loop().within(patience);
  return options;
}

AcquireOptions single_attempt() {
  AcquireOptions options;
  options.patience = {.until = TimePoint::min()};
  return options;
}

const GaveUp& gave_up(const Acquired& acquired) {
  REQUIRE(std::holds_alternative<GaveUp>(acquired));
  return std::get<GaveUp>(acquired);
}

}  // namespace

TEST_CASE("a free lock costs one question and no subscription") {
  ListRedis redis;
  redis.answers(kHeld);

  const Acquired got = acquire(redis, kOne, waiting(redis, 20'000ms));

  CHECK(std::holds_alternative<Taken>(got));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire"});
  CHECK(redis.watched.empty());
}

TEST_CASE("a lease runs from before the question was written") {
  ListRedis redis;
  redis.answers(kHeld);
  const TimePoint before = redis.loop().now();

  const Acquired got = acquire(redis, kOne, waiting(redis, 20'000ms));

  REQUIRE(std::holds_alternative<Taken>(got));
  CHECK(std::get<Taken>(got).asked >= before);
  CHECK(std::get<Taken>(got).asked <= redis.loop().now());
}

TEST_CASE("one try asks once, and busy is its answer") {
  ListRedis redis;
  redis.answers(kBusy);

  CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire"});
}

TEST_CASE("who waits listens first, and asks again; to stop listening would cost a holder a request") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);

  const Acquired got = acquire(redis, kOne, waiting(redis, 20'000ms));

  CHECK(std::holds_alternative<Taken>(got));
  CHECK(redis.log.size() == 2);
  CHECK(redis.watched == std::vector<std::string>{"wake:k"});
}

TEST_CASE(
    "each question says how long the wait has lasted: a server that forgot the line gives the place back") {
  ListRedis redis;
  redis.is_silent();  // and a pause follows
  redis.answers(kHeld);
  const Toy toy{"k"};

  REQUIRE(std::holds_alternative<Taken>(acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 20'000ms))));
  REQUIRE(toy.waits().size() == 2);
  CHECK(toy.waits().front() < toy.waits().back());
}

TEST_CASE("a wait that was told busy, and whose end cuts the next round short, is busy, not unreachable") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.answers(kBusy);

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 30ms))).why == GaveUp::Why::busy);
}

TEST_CASE(
    "a server that fails after it has said busy is unreachable, and the busy of before is kept beside it") {
  ListRedis redis;
  redis.answers(kBusy);
  for (int i = 0; i < 10; ++i) redis.answers(Reply::error("LOADING Redis is loading the dataset in memory"));

  const Acquired got = acquire(redis, kOne, waiting(redis, 300ms));
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  REQUIRE(gave_up(got).failure.has_value());
  CHECK(gave_up(got).failure->text.find("still loading") != std::string::npos);
  CHECK(gave_up(got).busy.has_value());
}

TEST_CASE("without a wait a server that answers, but never to the purpose, is given up after first_contact") {
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

TEST_CASE("an outage in the middle of a wait ends it after `outage`, counted from its begin") {
  ListRedis redis;
  const Reply loading = Reply::error("LOADING Redis is loading the dataset in memory");
  AcquireOptions options = waiting(redis, 60'000ms);
  options.first_contact = 0ms;
  options.outage = 200ms;
  redis.answers(kBusy);
  redis.answers(loading);  // bridged
  redis.answers(kBusy);
  for (int i = 0; i < 1000; ++i) redis.answers(loading);
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) >= 200ms);
  CHECK(elapsed(begun, redis.loop().now()) < 1000ms);
}

TEST_CASE("what is not undone at once is undone behind the wait, where that is possible") {
  ListRedis redis;
  redis.replies_take = true;
  redis.is_silent();
  AcquireOptions options = waiting(redis, 20ms);
  bool behind = false;
  options.behind = [&](const std::function<void()>& work) {
    work();
    return behind = true;
  };
  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK_FALSE(behind);  // it was answered in time
}

TEST_CASE("a wait that nobody answered is unreachable, and what may have been granted is given back") {
  ListRedis redis;
  redis.is_silent();

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 20ms))).why == GaveUp::Why::unreachable);
  CHECK(redis.log.back() == "toy/release");
  CHECK(redis.sent_on_abandoned == std::vector<std::string>{"toy/release"});
}

TEST_CASE("a round that the end of the wait cuts short does not hide what the server has said before") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.answers(Reply::error("NOSCRIPT No matching script."));
  redis.is_silent();

  const Acquired got = acquire(redis, kOne, waiting(redis, 200ms));

  REQUIRE(redis.log.size() == 3);  // the second acquire was cut short, and undone
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  REQUIRE(gave_up(got).failure.has_value());
  CHECK(gave_up(got).failure->text.find("does not keep the scripts") != std::string::npos);
}

TEST_CASE("a round that had its full time says why the wait failed, whatever an earlier one was told") {
  ListRedis redis;
  redis.silence_lasts = true;
  redis.answers(Reply::error("NOSCRIPT No matching script."));
  redis.is_silent();
  AcquireOptions options = waiting(redis, 60'000ms);
  options.attempt_timeout = 20ms;
  std::optional<TimePoint> second;
  options.patience.interrupted = [&] {
    if (redis.log.size() < 2) return false;
    if (!second) second = redis.loop().now();
    return redis.loop().now() >= *second + options.attempt_timeout;
  };

  const Acquired got = acquire(redis, kOne, options);

  REQUIRE(gave_up(got).failure.has_value());
  CHECK(gave_up(got).failure->text == "no answer");
}

TEST_CASE("without a wait a server that cannot be reached is given up at once") {
  ListRedis redis;
  redis.persistent = false;
  redis.is_silent();

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 60'000ms))).why == GaveUp::Why::unreachable);
}

TEST_CASE("a waiter in a queue that is interrupted gives its place back") {
  ListRedis redis;
  const Toy queueing{"k", true};
  const Wish wish{.parts = {part_of(queueing)}};
  redis.answers(kBusy);
  AcquireOptions options = waiting(redis, 60'000ms);
  options.patience.interrupted = [&] { return !redis.log.empty(); };

  CHECK(gave_up(acquire(redis, wish, options)).why == GaveUp::Why::interrupted);
  CHECK(redis.log.back() == "toy/release");
}

TEST_CASE("another type under the key ends the wait at once") {
  ListRedis redis;
  redis.answers(kForeign);

  const Acquired got = acquire(redis, kOne, waiting(redis, 60'000ms));
  CHECK(gave_up(got).why == GaveUp::Why::refused);
  CHECK(gave_up(got).refused->text == "a toy of another kind");
}

TEST_CASE("of several keys those taken are given back when one is busy, before waiting for it") {
  ListRedis redis;
  const Toy a{"a"};
  const Toy b{"b"};
  const Wish wish{.parts = {part_of(a), part_of(b)}};
  redis.answers(kHeld);  // a
  redis.answers(kBusy);  // b
  redis.answers(kDone);  // release a
  redis.answers(kHeld);
  redis.answers(kHeld);

  const Acquired got = acquire(redis, wish, waiting(redis, 20'000ms));

  REQUIRE(std::holds_alternative<Taken>(got));
  CHECK(std::get<Taken>(got).held.size() == 2);
  CHECK(redis.log ==
        std::vector<std::string>{"toy/acquire", "toy/acquire", "toy/release", "toy/acquire", "toy/acquire"});
  CHECK(redis.watched.front() == "wake:b");
  // No copy of a question is on its way, and an undo sent
  // on an abandoned connection could cancel the second try.
  CHECK(redis.sent_on_abandoned.empty());
}

TEST_CASE(
    "who gives back what it has, before it waits for another key, hears of that first and keeps its name") {
  ListRedis redis;
  redis.replies_take = true;
  const Toy a{"a"};
  const Toy b{"b"};
  const Wish wish{.parts = {part_of(a), part_of(b)}};
  for (const Reply& reply : {kHeld, kBusy, kDone, kHeld, kHeld}) redis.answers(reply);
  AcquireOptions options = waiting(redis, 20'000ms);
  std::vector<NewIdentity> renewed;
  options.renew_identity = [&](NewIdentity how) {
    renewed.push_back(how);
    return wish;
  };

  CHECK(std::holds_alternative<Taken>(acquire(redis, wish, options)));
  CHECK(renewed == std::vector{NewIdentity::requests});
}

TEST_CASE("of five nodes three are enough, two are not and are given back") {
  ListRedis redis{5};
  SUBCASE("three") {
    redis.answers({kHeld, kHeld, kHeld, std::nullopt, kBusy});
    const Acquired got = acquire(redis, kOne, single_attempt());
    REQUIRE(std::holds_alternative<Taken>(got));
    const std::vector<Answer> answers{Answer::granted, Answer::granted, Answer::granted, Answer::failed,
                                      Answer::busy};
    CHECK(std::get<Taken>(got).answers == answers);
  }
  SUBCASE("two") {
    redis.answers({kHeld, kHeld, std::nullopt, std::nullopt, kBusy});
    CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
    CHECK(redis.log.back() == "toy/release");
  }
  SUBCASE("nobody") {
    redis.is_silent();
    CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::unreachable);
    CHECK(redis.log.back() == "toy/release");
  }
}

TEST_CASE("a lock that too few replicas have is given back and does not count as busy") {
  ListRedis redis;
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT
  AcquireOptions options = single_attempt();
  options.sync_replicas = 1;

  const Acquired got = acquire(redis, kOne, options);
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "WAIT", "toy/release"});
}

TEST_CASE("what was granted too late is given back, and is no reason to say busy") {
  ListRedis redis;
  redis.answers(kHeld);
  AcquireOptions options = single_attempt();
  options.good_for = 0ms;

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release"});
}

TEST_CASE("nothing is held between two tries when too few replicas have it") {
  ListRedis redis;
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT: no replica
  redis.answers(kDone);
  redis.answers(kHeld);
  redis.answers(Reply{1});
  AcquireOptions options = waiting(redis, 20'000ms);
  options.sync_replicas = 1;

  CHECK(std::holds_alternative<Taken>(acquire(redis, kOne, options)));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "WAIT", "toy/release", "toy/acquire", "WAIT"});
}

TEST_CASE("after a round that had to be undone the next one asks as somebody else") {
  ListRedis redis{3};
  const Toy again{"k"};
  const Wish other{.parts = {part_of(again)}};
  int begun = 0;
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) {
    ++begun;
    return other;
  };

  SUBCASE("split votes") { redis.answers({kHeld, kBusy, std::nullopt}); }
  SUBCASE("an answer that was lost") { redis.answers({kBusy, kBusy, std::nullopt}); }
  redis.answers(kDone);
  redis.answers(kHeld);
  const Acquired got = acquire(redis, kOne, options);

  CHECK(std::holds_alternative<Taken>(got));
  CHECK(begun == 1);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release", "toy/acquire"});
}

TEST_CASE(
    "an owner who stays asks no server that has not answered its undo, which would delete the next hold") {
  ListRedis redis{3};
  bool stays = true;
  SUBCASE("the same owner") {}
  SUBCASE("another") { stays = false; }
  const Toy again{"k", false, stays ? "o:1" : "o:2"};
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) { return Wish{.parts = {part_of(again)}}; };
  redis.answers({kHeld, kBusy, kBusy});
  redis.answers({std::nullopt, kDone, kDone});             // the undo
  if (stays) redis.answers({std::nullopt, kDone, kDone});  // the same again
  redis.answers(kHeld);

  const Acquired got = acquire(redis, kOne, options);
  REQUIRE(std::holds_alternative<Taken>(got));
  CHECK(redis.asked.back() == std::vector{!stays, true, true});
  CHECK(std::get<Taken>(got).answers.front() == (stays ? Answer::failed : Answer::granted));
  if (stays) CHECK(redis.asked.at(2) == std::vector{true, false, false});
}

TEST_CASE("an owner who stays asks its only server again when that has answered the undo") {
  ListRedis redis;
  AcquireOptions options = waiting(redis, 20'000ms);
  options.sync_replicas = 1;
  options.renew_identity = [&](NewIdentity) { return kOne; };
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT: no replica
  redis.is_silent();        // the undo
  redis.answers(kDone);     // the same again
  redis.answers(kHeld);
  redis.answers(Reply{1});

  CHECK(std::holds_alternative<Taken>(acquire(redis, kOne, options)));
  CHECK(redis.log ==
        std::vector<std::string>{"toy/acquire", "WAIT", "toy/release", "toy/release", "toy/acquire", "WAIT"});
}

TEST_CASE("a server that never answers the undo fails as it did before, and nothing is asked of it") {
  ListRedis redis;
  AcquireOptions options = waiting(redis, 300ms);
  options.sync_replicas = 1;
  options.renew_identity = [&](NewIdentity) { return kOne; };
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT: no replica

  const Acquired got = acquire(redis, kOne, options);
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  CHECK(gave_up(got).failure->text.find("replica") != std::string::npos);
  CHECK(std::ranges::count(redis.log, "toy/acquire") == 1);
}

TEST_CASE("who is only told busy stays who he is") {
  ListRedis redis{3};
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) -> Wish { throw std::logic_error{"not asked for"}; };
  redis.answers(kBusy);
  redis.answers(kHeld);

  CHECK(std::holds_alternative<Taken>(acquire(redis, kOne, options)));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/acquire"});
}

TEST_CASE("a server among several that denies us does not hide that the others are busy") {
  ListRedis redis{3};
  redis.answers({kBusy, Reply::error("WRONGPASS invalid username-password pair"), kBusy});

  CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
}

TEST_CASE("of several queues the places behind are given up while we wait further in front") {
  ListRedis redis;
  const Toy a{"a", true};
  const Toy b{"b", true};
  const Wish wish{.parts = {part_of(a), part_of(b)}};
  redis.answers(kHeld);  // a
  redis.answers(kBusy);  // b: in its queue
  redis.answers(kDone);  // a back
  redis.answers(kBusy);  // a: in its queue
  redis.answers(kDone);  // out of the queue of b
  redis.answers(kHeld);
  redis.answers(kHeld);

  CHECK(std::holds_alternative<Taken>(acquire(redis, wish, waiting(redis, 20'000ms))));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/acquire", "toy/release", "toy/acquire",
                                              "toy/release", "toy/acquire", "toy/acquire"});
}
