#include "sync/wait/acquire.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "support/contains.h"
#include "support/list_redis.h"
#include "support/toy_lock.h"
#include "sync/wait/undo.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const Toy kToy{"k"};
const AcquireRequest kOne{.parts = {part_of(kToy)}};

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

/// A toy whose busy answers give us a place in the line.
class ToyWithLine final : public Toy {
 public:
  explicit ToyWithLine(std::int64_t place) : Toy("k"), place_(place) {}
  AcquireAnswer decode(const Reply& reply) const override {
    AcquireAnswer answer = Toy::decode(reply);
    if (auto* const busy = std::get_if<Busy>(&answer)) *busy = {.position = place_};
    return answer;
  }
  Milliseconds poll_every() const override { return 60'000ms; }
  Line::Notice read_notice(const Message&, const Busy&) const override { return {}; }

 private:
  const std::int64_t place_;
};

/// A toy that is held if the reply is 1, and otherwise busy. `place`: our place in its line; empty: it has no line.
class ToyInLine final : public Toy {
 public:
  explicit ToyInLine(std::optional<std::int64_t> place, std::optional<Milliseconds> retry_after = {})
      : Toy("k"), place_(place), retry_after_(retry_after) {}
  AcquireAnswer decode(const Reply& reply) const override {
    if (reply.integer() == 1) return Held{};
    return Busy{.retry_after = retry_after_, .position = place_};
  }
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }

 private:
  const std::optional<std::int64_t> place_;
  const std::optional<Milliseconds> retry_after_;
  const Line line_{{.name = LockName{"k"}, .owner = Owner{"o:1"}}, Channel{"releases"}};
};

const Channel kOwn{"releases:o:1"};

/// A toy whose acquire is written `asks` times, and whose undo is written `undos` times.
class ToyWrittenAgain final : public Toy {
 public:
  ToyWrittenAgain(ListRedis& redis, std::string name) : Toy(std::move(name)), redis_(redis) {}
  Call encode(Milliseconds waited) const override {
    redis_.attempts = asks;
    return Toy::encode(waited);
  }
  Call release(const ReleaseOptions& options) const override {
    redis_.attempts = undos;
    return Toy::release(options);
  }
  int asks = 1;
  int undos = 1;

 private:
  ListRedis& redis_;
};

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

const GaveUp& gave_up(const AcquireResult& result) {
  REQUIRE(std::holds_alternative<GaveUp>(result));
  return std::get<GaveUp>(result);
}

}  // namespace

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

TEST_CASE("a waiter that has lost its server asks again when those before it in the line have asked") {
  for (const auto& [place, pause] : {std::pair{1, 0ms}, {2, 0ms}, {10'000, 5000ms}}) {
    CAPTURE(place);
    ListRedis redis;
    redis.answers(kBusy);
    redis.answers(kHeld);
    const ToyWithLine toy{place};
    AcquireOptions options = waiting(redis, 600'000ms);
    options.report = [&](const Waiting&) { ++redis.lost; };
    const TimePoint begun = redis.loop().now();

    const AcquireResult got = acquire(redis, {.parts = {part_of(toy)}}, options);
    CHECK(std::holds_alternative<Acquired>(got));
    CHECK(elapsed(begun, redis.loop().now()) == pause);
    // During a pause it listens to no channel, so a connection opens only for the next acquire.
    CHECK((redis.watched == std::vector<std::string>{"wake:k", "-wake:k"}) == (pause > 0ms));
  }
}

TEST_CASE("a waiter in a line sleeps long, and by its new place when it is told that it moved up") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);
  const ToyInLine toy{10};
  AcquireOptions options = waiting(redis, 600'000ms);
  std::pair<Milliseconds, Milliseconds> sleeps{120'000ms, 132'000ms};  // with a tenth of jitter
  SUBCASE("nobody tells it anything") {}
  SUBCASE("it moves up") {
    sleeps = {1402ms, 1402ms};  // the rest of the lease, two places behind the first, and a little
    options.report = [&](const Waiting& told) {
      if (told.busy->position == 10) redis.said.push_back({kOwn, "3 1000"});
    };
  }
  const TimePoint begun = redis.loop().now();

  CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, options)));
  CHECK(elapsed(begun, redis.loop().now()) >= sleeps.first);
  CHECK(elapsed(begun, redis.loop().now()) <= sleeps.second);
}

TEST_CASE(
    "a waiter that asks seldom asks once more before its wait ends, so that it knows whether the server answers") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);
  const ToyInLine toy{10};
  AcquireOptions options = waiting(redis, 60'000ms);
  options.call_timeout = 3000ms;
  const TimePoint begun = redis.loop().now();

  CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, options)));
  CHECK(elapsed(begun, redis.loop().now()) == 56'500ms);
}

TEST_CASE("a waiter sends its facts again when it may get the lock, or when the server may have lost them") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);
  std::int64_t place = 5;
  bool sends = true;
  AcquireOptions options = waiting(redis, 600'000ms);
  SUBCASE("its turn has come") {
    options.report = [&](const Waiting&) { redis.said.push_back({kOwn, "0"}); };
  }
  SUBCASE("a connection was lost") {
    options.report = [&](const Waiting&) { ++redis.lost; };
  }
  SUBCASE("it stands in front") { place = 2; }
  SUBCASE("not if it only keeps its place") { sends = false; }
  SUBCASE("not if it only has subscribed") {
    sends = false;
    options.report = [&](const Waiting&) { redis.said.push_back({kOwn, std::nullopt}); };
  }
  const ToyInLine toy{place, 50ms};
  Part part = part_of(toy);
  part.followers = {command({"HSET", "meta"})};

  CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part}}, options)));
  CHECK_FALSE(redis.deliveries.at(0).followers.empty());
  CHECK(redis.deliveries.at(1).followers.empty() == !sends);
}

TEST_CASE("a flood of messages makes a waiter ask a hundred times at once, and then 25 times a second") {
  ListRedis redis;
  for (int i = 0; i < 150; ++i) redis.answers(kBusy);
  redis.answers(kHeld);
  const ToyInLine toy{std::nullopt};
  AcquireOptions options = waiting(redis, 600'000ms);
  options.report = [&](const Waiting&) { ++redis.messages; };
  const TimePoint begun = redis.loop().now();

  CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, options)));
  CHECK(elapsed(begun, redis.loop().now()) >= 1900ms);
  CHECK(elapsed(begun, redis.loop().now()) <= 2100ms);
}

TEST_CASE("an outage ends a wait in time, however far behind in the line the waiter stands") {
  ListRedis redis;
  redis.answers(kBusy);
  const ToyWithLine toy{100'000};
  AcquireOptions options = waiting(redis, 600'000ms);
  options.outage = 10'000ms;
  options.report = [&](const Waiting& told) { redis.lost += told.busy != nullptr ? 1 : 0; };
  const TimePoint begun = redis.loop().now();

  CHECK(gave_up(acquire(redis, {.parts = {part_of(toy)}}, options)).why == GaveUp::Why::unreachable);
  CHECK(elapsed(begun, redis.loop().now()) >= 10'000ms);
  CHECK(elapsed(begun, redis.loop().now()) < 11'000ms);
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

TEST_CASE("a wait that gave up tells whether a server was busy during it") {
  ListRedis redis;
  bool busy = false;
  SUBCASE("never") {}
  SUBCASE("at first") { busy = true; }
  if (busy) redis.answers(kBusy);
  for (int i = 0; i < 10; ++i) redis.answers(Reply::error("LOADING Redis is loading the dataset in memory"));

  CHECK(gave_up(acquire(redis, kOne, waiting(redis, 300ms))).seen_busy == busy);
}

TEST_CASE("a waiter that hears no messages asks again soon") {
  ListRedis redis;
  redis.why_not_subscribed = "no access to the channel";
  redis.answers(kBusy);
  redis.answers(kHeld);
  const ToyWithLine toy{1};
  const TimePoint begun = redis.loop().now();

  CHECK(
      std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 60'000ms))));
  CHECK(elapsed(begun, redis.loop().now()) < 5000ms);
}

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

TEST_CASE("in a round, a single server is asked until the end, and one of several only once") {
  for (const std::size_t nodes : {1U, 3U}) {
    ListRedis redis{nodes};
    redis.answers(kHeld);
    CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, waiting(redis, 20'000ms))));
    CHECK((redis.deliveries.front().retry == Delivery::Retry::until_deadline) == (nodes == 1));
  }
}

TEST_CASE("a connection that was lost before the round is no reason to ask again") {
  ListRedis redis;
  redis.lost = 1;
  redis.answers(kBusy);
  redis.answers(kHeld);
  const ToyWithLine toy{1};
  const TimePoint begun = redis.loop().now();

  CHECK(
      std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 600'000ms))));
  CHECK(elapsed(begun, redis.loop().now()) >= 60'000ms);
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

TEST_CASE("a late grant is released, and is no reason to report busy") {
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
  options.sync_replicas.count = 1;

  CHECK(std::holds_alternative<Acquired>(acquire(redis, kOne, options)));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "WAIT", "toy/release", "toy/acquire", "WAIT"});
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

TEST_CASE("a server among several that denies us does not hide that the others are busy") {
  ListRedis redis{3};
  redis.answers({kBusy, Reply::error("WRONGPASS invalid username-password pair"), kBusy});

  CHECK(gave_up(acquire(redis, kOne, single_attempt())).why == GaveUp::Why::busy);
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
