#include "sync/hold/release.h"
#include "support/contains.h"

#include <doctest/doctest.h>

#include "redis/executor/executor.h"
#include "support/fake_redis.h"
#include "support/list_redis.h"
#include "support/toy_lock.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""s;
using ReleaseHow = ReleaseResult::How;

namespace {

/// The result of releasing one lock.
ReleaseResult released_by(ListRedis& redis) {
  const std::vector<Part> parts{part_of(kToy)};
  return release(redis, parts, {}, within(5s)).front();
}

/// The result of a release when the servers give these answers; std::nullopt: that server is silent.
ReleaseResult answered(const ListRedis::Answer& answers) {
  ListRedis redis{answers.size()};
  redis.answers(answers);
  return released_by(redis);
}

}  // namespace

TEST_CASE("a release is sent once, and once more on abandoned connections, and no request stays open") {
  ListRedis redis;
  redis.answers(kFree);
  Part part = part_of(kToy);
  part.release_followers = {Call{.script = nullptr, .keys = {}, .args = {"HDEL", "facts", "o:1"}}};
  const ReleaseResult back = release(redis, std::vector{part}, {}, within(5s)).front();
  CHECK(back.how == ReleaseHow::yes);
  CHECK(back.why.empty());
  CHECK(back.unannounced.empty());
  CHECK(redis.log == std::vector<std::string>{"toy/release"});
  CHECK(redis.sent_on_abandoned == std::vector<std::string>{"toy/release", "HDEL"});
  CHECK(redis.open() == 0);
}

TEST_CASE("'not ours' is a loss, unless a copy that came before it may have released the lock") {
  ListRedis redis;
  redis.answers(kGone);
  CHECK(released_by(redis).how == ReleaseHow::not_ours);
  redis.answers(kGone);
  redis.attempts = 2;
  CHECK(released_by(redis).how == ReleaseHow::yes);
}

TEST_CASE("an undo frees a key only if too few servers are left with what the owner had before") {
  const auto undone = [](const ListRedis::Answer& answers, int attempts = 1) {
    ListRedis redis{answers.size()};
    redis.attempts = attempts;
    redis.answers(answers);
    return undo_parts(redis, std::vector{part_of(kToy)}, within(5s)).front();
  };
  CHECK(undone({kFree, kFree, kGone}) == Undone::freed);
  CHECK(undone({kFree, kGone, kGone}) == Undone::nothing);
  CHECK(undone({kFree, kKept, kGone}) == Undone::one_hold);
  CHECK(undone({kKept, kKept, kFree}) == Undone::one_hold);
  CHECK(undone({kFree, kFree, std::nullopt}) == Undone::freed);
  CHECK(undone({kFree, std::nullopt, std::nullopt}) == Undone::unconfirmed);
  CHECK(undone({kGone}) == Undone::nothing);
  CHECK(undone({kGone}, 2) == Undone::freed);  // the first copy has freed it
}

TEST_CASE("without any answer the result is unknown, and the reason is reported") {
  const ReleaseResult silent = answered({std::nullopt});
  CHECK(silent.how == ReleaseHow::unknown);
  CHECK(silent.why == "no answer");
  const ReleaseResult refused = answered({Reply::error("NOPERM no script")});
  CHECK(refused.how == ReleaseHow::unknown);
  CHECK(contains(refused.why, "NOPERM"));
}

TEST_CASE("a release reports that --min-hold keeps the lock, and for how long") {
  const ReleaseResult back = answered({kKept});
  CHECK(back.how == ReleaseHow::kept);
  CHECK(back.rest == Milliseconds{500});
}

TEST_CASE("a failed wake-up of waiters is reported, and the lock is free") {
  const ReleaseResult back = answered({kFreeForNobody});
  CHECK(back.how == ReleaseHow::yes);
  CHECK(back.unannounced == "no channel");
}

TEST_CASE("of five servers three must release, and the silent ones are named") {
  const ReleaseResult back = answered({kFree, std::nullopt, kFree, kFree, std::nullopt});
  CHECK(back.how == ReleaseHow::yes);
  CHECK(back.why == "node 2: no answer; node 5: no answer");
  CHECK(answered({kFree, std::nullopt, std::nullopt, kFree, std::nullopt}).how == ReleaseHow::unknown);
}

TEST_CASE("of five servers three without the lock are a loss") {
  CHECK(answered({kGone, kGone, kGone, kFree, kFree}).how == ReleaseHow::not_ours);
  CHECK(answered({kGone, kGone, kGone, std::nullopt, std::nullopt}).how == ReleaseHow::not_ours);
  CHECK(answered({kGone, kGone, kFree, kFree, kFree}).how == ReleaseHow::yes);
  CHECK(answered({kGone, kGone, kFree, std::nullopt, std::nullopt}).how == ReleaseHow::yes);
  CHECK(answered({kGone, kGone, std::nullopt, std::nullopt, std::nullopt}).how == ReleaseHow::unknown);
}

TEST_CASE("of four servers two without the lock are a loss") {
  CHECK(answered({kGone, kGone, kFree, kFree}).how == ReleaseHow::not_ours);
  CHECK(answered({kGone, kFree, kFree, kFree}).how == ReleaseHow::yes);
}

TEST_CASE("of several servers one that keeps the lock decides, and too few answers decide nothing") {
  CHECK(answered({kFree, kKept, kFree}).how == ReleaseHow::kept);
  CHECK(answered({std::nullopt, kKept, std::nullopt}).how == ReleaseHow::unknown);
}

TEST_CASE("if a release needs a second call, that call decides, among the servers that asked for it") {
  ListRedis redis{3};
  redis.answers(ListRedis::Answer{kInside, kInside, kFree});
  redis.answers(ListRedis::Answer{kFree, std::nullopt, std::nullopt});
  const ReleaseResult back = released_by(redis);
  CHECK(back.how == ReleaseHow::yes);
  CHECK(back.why == "node 2: no answer");

  redis.answers(ListRedis::Answer{kInside, kInside, kFree});
  redis.is_silent();
  CHECK(released_by(redis).how == ReleaseHow::unknown);
}

TEST_CASE("a release waits for its answer, but not longer than it may") {
  const std::vector<Part> parts{part_of(kToy)};
  const auto released = [&](const Patience& patience) {
    ListRedis redis;
    redis.replies_take = true;
    redis.answers(kFree);
    return release(redis, parts, {}, patience).front().how;
  };
  CHECK(released(within(5s)) == ReleaseHow::yes);
  CHECK(released(within(0s)) == ReleaseHow::unknown);
  CHECK(released({plus(Clock::now(), 5s), [] { return true; }}) == ReleaseHow::unknown);
}

TEST_CASE("each of several locks is released, even if the others fail") {
  ListRedis redis;
  redis.answers(kGone);
  redis.is_silent();
  redis.answers(kFree);
  const Toy other{"other"}, third{"third"};
  const std::vector<Part> parts{part_of(kToy), part_of(other), part_of(third)};
  const std::vector<ReleaseResult> back = release(redis, parts, {}, within(5s));
  REQUIRE(back.size() == 3);
  CHECK(back[0].how == ReleaseHow::not_ours);
  CHECK(back[1].how == ReleaseHow::unknown);
  CHECK(back[2].how == ReleaseHow::yes);
  CHECK(redis.sent_on_abandoned.size() == 3);
}

TEST_CASE("the ends of two holds are written to each server that answers, although one is silent") {
  FakeRedis one, two, silent;
  for (FakeRedis* redis : {&one, &two, &silent}) redis->on("HSET", wire::integer(1));
  silent.on("HSET", wire::kSilence);
  Loop loop;
  Executor redis{loop,
                 {parse_target(silent.url()), parse_target(one.url()), parse_target(two.url())},
                 {.timeouts = {.connect = 30s, .command = 30s}}};
  Part part = part_of(kToy);
  part.release_followers = {command({"HSET", "history"}, "history")};
  record_end(redis, std::vector{part, part}, loop.within(10s));
  CHECK(one.count("HSET") == 2);
  CHECK(two.count("HSET") == 2);
}
