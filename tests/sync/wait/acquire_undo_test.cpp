// What a wait may have been granted, and does not keep, is undone. How the wait then goes on depends on the answers to
// the undo.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "support/contains.h"
#include "support/list_redis.h"
#include "support/toy_acquire.h"
#include "support/toy_lock.h"
#include "sync/wait/acquire.h"
#include "sync/wait/undo.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE("an undo without an answer is repeated behind the wait, if that is possible") {
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
  CHECK_FALSE(behind);  // the answer came in time
}

TEST_CASE("an undo that takes long goes on behind the wait: another process waits for it") {
  ListRedis redis;
  redis.replies_take = true;
  redis.latency = 10'000ms;
  redis.is_silent();
  AcquireOptions options = waiting(redis, 20ms);
  bool can = true;
  SUBCASE("if there can be one") {}
  SUBCASE("else the wait itself waits a little longer") { can = false; }
  Milliseconds behind{0};
  options.behind = [&](const std::function<void()>& work) {
    const TimePoint begun = redis.loop().now();
    if (can) work();
    behind = elapsed(begun, redis.loop().now());
    return can;
  };
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(redis.given_away == can);
  CHECK((behind > 9000ms) == can);
  if (!can) CHECK(elapsed(begun, redis.loop().now()) == 20ms + Undo::kAwait);
}

TEST_CASE("a refused acquire waits for its undo, because its caller may ask for something else next") {
  ListRedis redis;
  redis.replies_take = true;
  redis.latency = 10'000ms;
  const Toy a{"a"};
  const Toy b{"b"};
  redis.answers(kHeld);     // a
  redis.answers(kForeign);  // b
  AcquireOptions options = waiting(redis, 60'000ms);
  bool behind = false;
  options.behind = [&](const std::function<void()>&) { return behind = true; };
  const TimePoint begun = redis.loop().now();

  const AcquireRequest request{.parts = {part_of(a), part_of(b)}};
  CHECK(gave_up(acquire(redis, request, options)).why == GaveUp::Why::refused);
  CHECK_FALSE(behind);
  CHECK(elapsed(begun, redis.loop().now()) == Undo::kAwait);
}

TEST_CASE("a user in a hurry does not wait for an undo") {
  ListRedis redis;
  redis.replies_take = true;
  redis.latency = 10'000ms;
  redis.is_silent();
  AcquireOptions options = single_attempt();
  options.insisted = [] { return true; };
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) == 0ms);
}

TEST_CASE("a wait without any answer is unreachable, and a possible grant is released") {
  ListRedis redis;
  redis.is_silent();

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 20ms))).why == GaveUp::Why::unreachable);
  CHECK(redis.log.back() == "toy/release");
  CHECK(redis.sent_on_abandoned == std::vector<std::string>{"toy/release"});
}

TEST_CASE("a waiter in a queue that is interrupted gives its place back") {
  ListRedis redis;
  const Toy queueing{"k", true};
  const AcquireRequest request{.parts = {part_of(queueing)}};
  redis.answers(kBusy);
  AcquireOptions options = waiting(redis, 60'000ms);
  options.patience.interrupted = [&] { return !redis.log.empty(); };

  CHECK(gave_up(acquire(redis, request, options)).why == GaveUp::Why::interrupted);
  CHECK(redis.log.back() == "toy/release");
}

TEST_CASE(
    "an acquire that releases its keys while another one is busy keeps its owner, if the release was answered") {
  ListRedis redis;
  redis.replies_take = true;
  const Toy a{"a"};
  const Toy b{"b"};
  const AcquireRequest request{.parts = {part_of(a), part_of(b)}};
  for (const Reply& reply : {kHeld, kBusy, kDone, kHeld, kHeld}) redis.answers(reply);
  AcquireOptions options = waiting(redis, 20'000ms);
  std::vector<NewIdentity> renewed;
  options.renew_identity = [&](NewIdentity how) {
    renewed.push_back(how);
    return request;
  };

  CHECK(std::holds_alternative<Acquired>(acquire(redis, request, options)));
  CHECK(renewed == std::vector{NewIdentity::requests});
}

TEST_CASE(
    "an owner keeps its place only if its calls were written once, because no copy can come later then") {
  ListRedis redis;
  redis.replies_take = true;
  ToyWrittenAgain a{redis, "a"};
  const Toy b{"b"};
  const AcquireRequest request{.parts = {part_of(a), part_of(b)}};
  NewIdentity expected = NewIdentity::owner;
  SUBCASE("once") { expected = NewIdentity::requests; }
  SUBCASE("an acquire twice") { a.asks = 2; }
  SUBCASE("an undo twice") { a.undos = 2; }
  for (const Reply& reply : {kHeld, kBusy, kDone, kHeld, kBusy, kDone, kHeld, kHeld}) redis.answers(reply);
  AcquireOptions options = waiting(redis, 20'000ms);
  std::vector<NewIdentity> renewed;
  const std::size_t copies = a.asks > 1 ? 1 : 0;
  options.renew_identity = [&](NewIdentity how) {
    renewed.push_back(how);
    a.asks = a.undos = 1;
    return request;
  };

  CHECK(std::holds_alternative<Acquired>(acquire(redis, request, options)));
  CHECK(renewed == std::vector{expected, NewIdentity::requests});
  CHECK(redis.sent_on_abandoned.size() == copies);
}

TEST_CASE("a long wait keeps no undo that was answered") {
  ListRedis redis;
  redis.replies_take = true;
  const Toy a{"a"};
  const Toy b{"b"};
  const AcquireRequest request{.parts = {part_of(a), part_of(b)}};
  for (int i = 0; i < 20; ++i)
    for (const Reply& reply : {kHeld, kBusy, kDone}) redis.answers(reply);
  for (int i = 0; i < 2; ++i) redis.answers(kHeld);
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) { return request; };
  std::size_t most = 0;
  options.report = [&](const Waiting&) { most = std::max(most, redis.open()); };

  SUBCASE("of an owner that is new each time") {
    const Toy other{"a", false, "o:2"};
    options.renew_identity = [&](NewIdentity) {
      return AcquireRequest{.parts = {part_of(other), part_of(b)}};
    };
    CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(a), part_of(b)}}, options)));
  }
  SUBCASE("of nobody") {
    options.renew_identity = nullptr;
    CHECK(std::holds_alternative<Acquired>(acquire(redis, request, options)));
  }
  CHECK(most <= 1);
}

TEST_CASE("an undo without an answer goes on after the lock was taken, once for each node") {
  ListRedis redis{3};
  redis.replies_take = true;
  redis.latency = 10'000ms;
  AcquireOptions options = waiting(redis, 5000ms);
  options.renew_identity = [&](NewIdentity) { return kOne; };
  redis.answers({kHeld, kBusy, kBusy});
  SUBCASE("the owner is another") {
    const Toy other{"k", false, "o:2"};
    options.renew_identity = [&](NewIdentity) { return AcquireRequest{.parts = {part_of(other)}}; };
    redis.answers(kDone);
    redis.answers(kHeld);
    CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
    CHECK(redis.detached == 1);
  }
  SUBCASE("the owner stays, and the nodes are not asked before they answer") {
    redis.answers(kDone);
    CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
    CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release"});
  }
}

TEST_CASE("a late grant is released, and is no reason to report busy") {
  ListRedis redis;
  redis.answers(kHeld);
  AcquireOptions options = single_attempt();
  options.good_for = 0ms;

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::unreachable);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release"});
}

TEST_CASE("after an undone round the next one asks with a new identity") {
  ListRedis redis{3};
  const Toy again{"k"};
  const AcquireRequest other{.parts = {part_of(again)}};
  int begun = 0;
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity how) {
    CHECK(how == NewIdentity::owner);
    ++begun;
    return other;
  };

  SUBCASE("split votes") { redis.answers({kHeld, kBusy, std::nullopt}); }
  SUBCASE("a minority") { redis.answers({kHeld, kBusy, kBusy}); }
  SUBCASE("an answer that was lost") { redis.answers({kBusy, kBusy, std::nullopt}); }
  redis.answers(kDone);
  redis.answers(kHeld);
  const AcquireResult got = acquire(redis, kOne, options);

  CHECK(std::holds_alternative<Acquired>(got));
  CHECK(begun == 1);
  CHECK(again.waits().size() == 1);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release", "toy/acquire"});
}

TEST_CASE(
    "with a fixed owner, a server that has not answered the undo is not asked, because the undo could delete the next hold") {
  ListRedis redis{3};
  bool stays = true;
  SUBCASE("the same owner") {}
  SUBCASE("another") { stays = false; }
  const Toy again{"k", false, stays ? "o:1" : "o:2"};
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) { return AcquireRequest{.parts = {part_of(again)}}; };
  redis.answers({kHeld, kBusy, kBusy});
  redis.answers({std::nullopt, kDone, kDone});             // the undo
  if (stays) redis.answers({std::nullopt, kDone, kDone});  // the undo again
  redis.answers(kHeld);

  const AcquireResult got = acquire(redis, kOne, options);
  REQUIRE(std::holds_alternative<Acquired>(got));
  CHECK(redis.asked.back() == std::vector{!stays, true, true});
  CHECK(std::get<Acquired>(got).answers.front() == (stays ? Answer::failed : Answer::granted));
  if (stays) CHECK(redis.asked.at(2) == std::vector{true, false, false});
}

TEST_CASE("a fixed owner counts as one, if another part joins the hold of an outer owner") {
  ListRedis redis{3};
  std::string owner = "o:2";
  SUBCASE("the same owner") {}
  SUBCASE("another") { owner = "o:3"; }
  const bool stays = owner == "o:2";
  const Toy joined{"a", false, "o:1"};
  const Toy before{"b", false, "o:2"};
  const Toy again{"b", false, owner};
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) {
    return AcquireRequest{.parts = {part_of(joined), part_of(again)}};
  };
  redis.answers(kHeld);
  redis.answers({kHeld, kBusy, kBusy});
  redis.answers(kDone);                         // the undo of the first part
  redis.answers({std::nullopt, kDone, kDone});  // the undo of the second part
  for (int i = 0; i < 4; ++i)
    redis.answers({std::nullopt, kHeld, kHeld});  // this undo again, if it is sent; both parts

  const AcquireRequest request{.parts = {part_of(joined), part_of(before)}};
  CHECK(std::holds_alternative<Acquired>(acquire(redis, request, options)));
  CHECK(redis.asked.back() == std::vector{!stays, true, true});
}

TEST_CASE("an undo goes only to the nodes that may have received the acquire") {
  ListRedis redis{3};
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) { return kOne; };
  redis.answers({kHeld, kBusy, kBusy});
  for (int i = 0; i < 2; ++i) redis.answers({std::nullopt, kDone, kDone});  // the undo, and again
  redis.answers({std::nullopt, kHeld, kBusy});                              // without the first node
  redis.answers(kDone);                                                     // the undo
  redis.answers(kDone);                                                     // the first undo again
  redis.answers(kHeld);

  CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
  REQUIRE(redis.log.at(4) == "toy/release");
  CHECK(redis.asked.at(4) == std::vector{false, true, true});
}

TEST_CASE("a wait that ends after an undo sends no other one, because no node has seen the next identity") {
  ListRedis redis{3};
  const Toy again{"k"};
  AcquireOptions options = waiting(redis, 20'000ms);
  options.patience.interrupted = [&] { return redis.log.size() == 2; };  // behind the undo
  options.renew_identity = [&](NewIdentity) { return AcquireRequest{.parts = {part_of(again)}}; };
  redis.answers({kHeld, kBusy, std::nullopt});
  redis.answers(kDone);

  CHECK(gave_up(acquire(redis, kOne, options)).why == GaveUp::Why::interrupted);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/release"});
}

TEST_CASE("an undo behind a late acquire takes its followers along") {
  ListRedis redis;
  redis.is_silent();
  Part part = part_of(kToy);
  part.release_followers = {command({"HDEL", "meta", "o:1"})};

  CHECK(gave_up(acquire(redis, {.parts = {part}}, single_attempt())).why == GaveUp::Why::unreachable);
  CHECK(redis.sent_on_abandoned == std::vector<std::string>{"toy/release", "HDEL"});
}

TEST_CASE("with a fixed owner, the only server is asked again when it has answered the undo") {
  ListRedis redis;
  AcquireOptions options = waiting(redis, 20'000ms);
  options.sync_replicas.count = 1;
  options.renew_identity = [&](NewIdentity) { return kOne; };
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT: no replica
  redis.is_silent();        // the undo
  redis.answers(kDone);     // the undo again
  redis.answers(kHeld);
  redis.answers(Reply{1});

  CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
  CHECK(redis.log ==
        std::vector<std::string>{"toy/acquire", "WAIT", "toy/release", "toy/release", "toy/acquire", "WAIT"});
}

TEST_CASE(
    "a server that never answers the undo gets no further acquire, and the wait ends with the earlier failure") {
  ListRedis redis;
  AcquireOptions options = waiting(redis, 300ms);
  options.sync_replicas.count = 1;
  options.renew_identity = [&](NewIdentity) { return kOne; };
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT: no replica

  const AcquireResult got = acquire(redis, kOne, options);
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  CHECK(contains(gave_up(got).failure->text, "replica"));
  CHECK(std::ranges::count(redis.log, "toy/acquire") == 1);
}

TEST_CASE("an acquire that only heard busy keeps its identity") {
  ListRedis redis{3};
  AcquireOptions options = waiting(redis, 20'000ms);
  options.renew_identity = [&](NewIdentity) -> AcquireRequest { throw std::logic_error{"not asked for"}; };
  redis.answers(kBusy);
  redis.answers(kHeld);

  CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "toy/acquire"});
}
