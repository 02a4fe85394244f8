#include "sync/acquire.h"

#include <doctest/doctest.h>

#include "support/list_redis.h"

using namespace rlock;
using rlock::test::ListRedis;
using std::chrono_literals::operator""ms;

namespace {

constexpr Script kAcquire{"toy/acquire", "0", ""};
constexpr Script kRelease{"toy/release", "0", ""};
constexpr Script kRenew{"toy/renew", "0", ""};

const Reply kHeld{1};
const Reply kBusy{0};
const Reply kForeign{-1};
const Reply kDone{1};

/// Held on 1, busy on 0, another type on anything else.
class Toy final : public Lockable {
 public:
  explicit Toy(std::string name, bool queues = false) : name_(std::move(name)), queues_(queues) {}

  Call ask() const override { return call(kAcquire); }
  Attempt read(const Reply& reply) const override {
    if (reply.integer() == 1) return Held{};
    if (reply.integer() == 0) return Busy{.retry_after = 1ms, .no_ttl = false, .position = {}, .queue = {}, .member = {}};
    return Refused{Refused::Why::wrong_type, "a toy of another kind"};
  }
  bool queues() const override { return queues_; }
  std::vector<Channel> channels() const override { return {Channel{"wake:" + name_.str()}}; }
  const LockName& name() const override { return name_; }
  const Owner& owner() const override { return owner_; }
  Call renew() const override { return call(kRenew); }
  bool read_renewal(const Reply& reply) const override { return reply.integer() == 1; }
  Call release(const Farewell&) const override { return call(kRelease); }
  Released read_release(const Reply&) const override { return {}; }
  Evidence evidence() const override { return {name_.str(), owner_.str()}; }

 private:
  Call call(const Script& script) const {
    Call call;
    call.script = &script;
    call.keys = {name_.str()};
    return call;
  }
  const LockName name_;
  const Owner owner_{"o:1"};
  const bool queues_;
};

const Toy kToy{"k"};
const std::vector<Part> kOne{{&kToy, {}}};

AcquireOptions waiting(Milliseconds patience) {
  AcquireOptions options;
  options.patience = within(patience);
  return options;
}

AcquireOptions one_try() {
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

  const Acquired got = acquire(redis, kOne, waiting(1000ms));

  CHECK(std::holds_alternative<Taken>(got));
  CHECK(redis.log == std::vector<std::string>{"toy/acquire"});
  CHECK(redis.watched.empty());
}

TEST_CASE("a lease runs from before the question was written") {
  ListRedis redis;
  redis.answers(kHeld);
  const TimePoint before = Clock::now();

  const Acquired got = acquire(redis, kOne, waiting(1000ms));

  REQUIRE(std::holds_alternative<Taken>(got));
  CHECK(std::get<Taken>(got).asked >= before);
  CHECK(std::get<Taken>(got).asked <= Clock::now());
}

TEST_CASE("one try asks once, and busy is its answer") {
  ListRedis redis;
  redis.answers(kBusy);

  CHECK(gave_up(acquire(redis, kOne, one_try())).why == GaveUp::Why::busy);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire"});
}

TEST_CASE("who waits listens first, asks again, and stops listening") {
  ListRedis redis;
  redis.answers(kBusy);
  redis.answers(kHeld);

  const Acquired got = acquire(redis, kOne, waiting(1000ms));

  CHECK(std::holds_alternative<Taken>(got));
  CHECK(redis.log.size() == 2);
  CHECK(redis.watched == std::vector<std::string>{"wake:k", "-wake:k"});
}

TEST_CASE("a wait that was told busy and then ended is busy, not unreachable") {
  ListRedis redis;
  redis.answers(kBusy);

  CHECK(gave_up(acquire(redis, kOne, waiting(30ms))).why == GaveUp::Why::busy);
}

TEST_CASE("a wait that nobody answered is unreachable, and what may have been granted is given back") {
  ListRedis redis;
  redis.is_silent();

  CHECK(gave_up(acquire(redis, kOne, waiting(20ms))).why == GaveUp::Why::unreachable);
  CHECK(redis.log.back() == "toy/release");
  CHECK(redis.farewells == std::vector<std::string>{"toy/release"});
}

TEST_CASE("without a wait a server that cannot be reached is given up at once") {
  ListRedis redis;
  redis.persistent = false;
  redis.is_silent();

  CHECK(gave_up(acquire(redis, kOne, waiting(60'000ms))).why == GaveUp::Why::unreachable);
}

TEST_CASE("a waiter in a queue that is interrupted gives its place back") {
  ListRedis redis;
  const Toy queueing{"k", true};
  const std::vector<Part> parts{{&queueing, {}}};
  redis.answers(kBusy);
  AcquireOptions options = waiting(60'000ms);
  options.patience.interrupted = [&] { return !redis.log.empty(); };

  CHECK(gave_up(acquire(redis, parts, options)).why == GaveUp::Why::interrupted);
  CHECK(redis.log.back() == "toy/release");
}

TEST_CASE("another type under the key ends the wait at once") {
  ListRedis redis;
  redis.answers(kForeign);

  const Acquired got = acquire(redis, kOne, waiting(60'000ms));
  CHECK(gave_up(got).why == GaveUp::Why::refused);
  CHECK(gave_up(got).refused->text == "a toy of another kind");
}

TEST_CASE("of several keys those taken are given back when one is busy, before waiting for it") {
  ListRedis redis;
  const Toy a{"a"};
  const Toy b{"b"};
  const std::vector<Part> parts{{&a, {}}, {&b, {}}};
  redis.answers(kHeld);  // a
  redis.answers(kBusy);  // b
  redis.answers(kDone);  // release a
  redis.answers(kHeld);
  redis.answers(kHeld);

  const Acquired got = acquire(redis, parts, waiting(1000ms));

  REQUIRE(std::holds_alternative<Taken>(got));
  CHECK(std::get<Taken>(got).held.size() == 2);
  CHECK(redis.log ==
        std::vector<std::string>{"toy/acquire", "toy/acquire", "toy/release", "toy/acquire", "toy/acquire"});
  CHECK(redis.watched.front() == "wake:b");
}

TEST_CASE("of five deployments three are enough, two are not and are given back") {
  ListRedis redis{5};
  SUBCASE("three") {
    redis.answers({kHeld, kHeld, kHeld, std::nullopt, kBusy});
    const Acquired got = acquire(redis, kOne, one_try());
    REQUIRE(std::holds_alternative<Taken>(got));
    CHECK(std::get<Taken>(got).voted == std::vector<std::size_t>{0, 1, 2});
  }
  SUBCASE("two") {
    redis.answers({kHeld, kHeld, std::nullopt, std::nullopt, kBusy});
    CHECK(gave_up(acquire(redis, kOne, one_try())).why == GaveUp::Why::busy);
    CHECK(redis.log.back() == "toy/release");
  }
  SUBCASE("nobody") {
    redis.is_silent();
    CHECK(gave_up(acquire(redis, kOne, one_try())).why == GaveUp::Why::unreachable);
    CHECK(redis.log.back() == "toy/release");
  }
}

TEST_CASE("a lock that too few replicas have is given back and does not count as busy") {
  ListRedis redis;
  redis.answers(kHeld);
  redis.answers(Reply{0});  // WAIT
  AcquireOptions options = one_try();
  options.sync_replicas = 1;

  const Acquired got = acquire(redis, kOne, options);
  CHECK(gave_up(got).why == GaveUp::Why::unreachable);
  CHECK(redis.log == std::vector<std::string>{"toy/acquire", "WAIT", "toy/release"});
}
