// A waiter in a line: when it asks again, what it then sends, and how long it goes on without a server.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/list_redis.h"
#include "support/toy_acquire.h"
#include "support/toy_lock.h"
#include "sync/wait/acquire.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

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

/// Tells the waiter these texts in turn, one `every` so often.
class Teller final : public Source {
 public:
  Teller(ListRedis& redis, Milliseconds every, std::vector<std::string> texts)
      : redis_(redis), every_(every), texts_(std::move(texts)) {}
  int fd() const override { return -1; }
  TimePoint wake_at() const override { return next_; }
  void ready(short, TimePoint now) override {
    redis_.said.push_back({kOwn, texts_[told_++ % texts_.size()]});
    next_ = plus(now, every_);
  }

 private:
  ListRedis& redis_;
  const Milliseconds every_;
  const std::vector<std::string> texts_;
  std::size_t told_ = 0;
  TimePoint next_ = plus(redis_.loop().now(), every_);
  Membership membership_{redis_.loop(), *this};
};

}  // namespace

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

TEST_CASE("after a failure only a waiter that pauses behind others stops listening") {
  for (const auto& [place, watched] : {std::pair{2, std::vector<std::string>{"wake:k"}},
                                       {10'000, std::vector<std::string>{"wake:k", "-wake:k"}}}) {
    CAPTURE(place);
    ListRedis redis;
    redis.answers(kBusy);
    redis.answers(Reply::error("LOADING Redis is loading the dataset in memory"));
    redis.answers(kHeld);
    const ToyWithLine toy{place};

    const AcquireResult got = acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 600'000ms));
    CHECK(std::holds_alternative<Acquired>(got));
    CHECK(redis.watched == watched);
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

TEST_CASE("messages about its place do not put off the next question of a waiter") {
  for (const auto& [text, latest] :
       {std::pair{std::string{"1 -1"}, 2900ms}, {"2 -1", 4900ms}, {"1 60000", 2900ms}}) {
    CAPTURE(text);
    ListRedis redis;
    redis.answers(kBusy);
    redis.answers(kHeld);
    const Teller teller{redis, 900ms, {text}};
    const ToyInLine toy{2};
    const TimePoint begun = redis.loop().now();

    CHECK(std::holds_alternative<Acquired>(
        acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 600'000ms))));
    CHECK(elapsed(begun, redis.loop().now()) <= latest);
  }
}

TEST_CASE("a message about its place does not put off the question that the last answer asked a waiter for") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);
  const Teller teller{redis, 100ms, {"2 -1"}};
  const ToyInLine toy{3, 260ms};
  const TimePoint begun = redis.loop().now();

  CHECK(
      std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 600'000ms))));
  CHECK(elapsed(begun, redis.loop().now()) == 262ms);
}

TEST_CASE("a waiter that is told again and again to come later asks when it would have asked anyway") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);
  const Teller teller{redis, 50ms, {"later 100"}};
  const ToyInLine toy{2, 2000ms};
  const TimePoint begun = redis.loop().now();

  CHECK(
      std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, waiting(redis, 600'000ms))));
  CHECK(elapsed(begun, redis.loop().now()) == 2002ms);
}

TEST_CASE("a waiter that is told to come later does not ask because of an earlier message") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);
  const ToyInLine toy{2, 2000ms};
  AcquireOptions options = waiting(redis, 600'000ms);
  options.report = [&](const Waiting&) { redis.said = {{kOwn, "0"}, {kOwn, "later 10"}}; };
  const TimePoint begun = redis.loop().now();

  CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part_of(toy)}}, options)));
  CHECK(elapsed(begun, redis.loop().now()) == 10ms);
}

TEST_CASE(
    "a waiter that is often told its place asks, reports and subscribes a hundred times at once, and then 25 times a "
    "second") {
  for (const auto& texts : std::vector<std::vector<std::string>>{
           {"1 0"}, {"2 5000", "3 5000"}, {"1 5000", "2 5000"}, {"1 0", "3 0"}}) {
    CAPTURE(texts.front());
    ListRedis redis;
    for (int i = 0; i < 5000; ++i) redis.answers(kBusy);
    const Teller teller{redis, 1ms, texts};
    const ToyInLine toy{2};
    std::size_t reports = 0;
    AcquireOptions options = waiting(redis, 10'000ms);
    options.report = [&](const Waiting&) { ++reports; };

    CHECK(gave_up(acquire(redis, {.parts = {part_of(toy)}}, options)).why == GaveUp::Why::busy);
    const std::size_t questions = redis.log.size();
    CHECK(questions <= 100 + 10 * 25 + 10);  // the last ten were planned
    CHECK(reports <= 100 + 10 * 25 + questions);
    CHECK(redis.watched.size() <= 2 * (100 + 10 * 25 + questions));
  }
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

TEST_CASE(
    "a waiter sends its facts again when it may get the lock, when the server may have lost them, or when it has it") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);
  std::optional<std::int64_t> place = 5;
  bool sends = true;
  AcquireOptions options = waiting(redis, 600'000ms);
  SUBCASE("its turn has come") {
    options.report = [&](const Waiting&) { redis.said.push_back({kOwn, "0"}); };
  }
  SUBCASE("a connection was lost") {
    options.report = [&](const Waiting&) { ++redis.lost; };
  }
  SUBCASE("it stands in front") { place = 2; }
  SUBCASE("there is no line, so every waiter may get it") { place.reset(); }
  SUBCASE("not if it only keeps its place") { sends = false; }
  SUBCASE("not if it only has subscribed") {
    sends = false;
    options.report = [&](const Waiting&) { redis.said.push_back({kOwn, std::nullopt}); };
  }
  const ToyInLine toy{place, 50ms};
  Part part = part_of(toy);
  part.followers = {command({"HSET", "meta"}), command({"EXPIRE", "meta"})};

  CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part}}, options)));
  CHECK(redis.deliveries.at(0).followers.size() == 2);
  CHECK(redis.deliveries.at(1).followers.size() == (sends ? 2 : 0));
  REQUIRE(redis.log.size() == (sends ? 2 : 3));
  if (sends) return;
  CHECK(redis.log.at(2) == "HSET");
  CHECK(redis.deliveries.at(2).followers.size() == 1);
}

TEST_CASE(
    "after a round without an answer a waiter sends its facts again, because the server may have lost them") {
  ListRedis redis;
  redis.attempts = 0;  // nothing was written, so nothing is undone
  redis.answers(kBusy);
  redis.is_silent();
  redis.answers(kHeld);
  const ToyInLine toy{5, 50ms};
  Part part = part_of(toy);
  part.followers = {command({"HSET", "meta"}), command({"EXPIRE", "meta"})};

  CHECK(std::holds_alternative<Acquired>(acquire(redis, {.parts = {part}}, waiting(redis, 600'000ms))));
  REQUIRE(redis.deliveries.size() == 3);
  CHECK(redis.deliveries.at(0).followers.size() == 2);
  CHECK(redis.deliveries.at(1).followers.empty());  // it only keeps its place
  CHECK(redis.deliveries.at(2).followers.size() == 2);
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
