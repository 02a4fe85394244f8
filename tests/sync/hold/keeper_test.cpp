#include "sync/hold/keeper.h"

#include <doctest/doctest.h>

#include "support/contains.h"
#include "support/list_redis.h"
#include "support/toy_lock.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

namespace {

/// A time in the future. If a test looks at the real clock, no lease has ended then, however long earlier tests took.
const TimePoint kAsked = plus(Clock::now(), std::chrono::hours{1});

Keeper::Options keeping(Milliseconds lease, bool renews = true) {
  Keeper::Options options;
  options.lease = {.asked = kAsked,
                   .budget = plan_budget({.lease = lease, .kill_after = 5s, .renews = renews})};
  options.parts = {part_of(kToy)};
  return options;
}

/// Options with two parts, which are renewed together.
Keeper::Options keeping_with(const Toy& other) {
  Keeper::Options options = keeping(30s);
  options.parts.push_back(part_of(other));
  return options;
}

TimePoint after(Milliseconds time) { return plus(kAsked, time); }

/// Two turns of the loop at `now`: the keeper begins a renewal, and reads its answer.
void turn(Keeper& keeper, TimePoint now) {
  if (keeper.wake_at() <= now) keeper.ready(0, now);
  if (keeper.wake_at() <= now) keeper.ready(0, now);
}

}  // namespace

TEST_CASE("a lease is renewed after a third of it, and runs on from that question") {
  ListRedis redis;
  redis.answers(kDone);
  Keeper keeper{redis, keeping(30s)};

  CHECK(keeper.wake_at() == after(10s));
  turn(keeper, after(10s));

  CHECK(redis.log == std::vector<std::string>{"toy/renew"});
  CHECK(keeper.lease().asked == after(10s));
  CHECK(keeper.wake_at() == after(20s));
  CHECK_FALSE(keeper.lost());
}

TEST_CASE("a server that says 'not yours' is believed at once") {
  ListRedis redis;
  redis.answers(kGone);
  Keeper keeper{redis, keeping(30s)};

  turn(keeper, after(10s));

  REQUIRE(keeper.lost());
  CHECK(redis.open() == 0);
  CHECK(keeper.stop_at() <= after(10s));
  CHECK(keeper.kill_at() <= after(15s));
}

TEST_CASE("an unanswered renewal is neither success nor loss, and is tried again soon") {
  ListRedis redis;
  redis.is_silent();
  redis.answers(kDone);
  Keeper keeper{redis, keeping(30s)};

  turn(keeper, after(10s));
  CHECK_FALSE(keeper.lost());
  CHECK(keeper.lease().asked == kAsked);
  CHECK(keeper.wake_at() == after(11s));

  turn(keeper, after(11s));
  CHECK(keeper.lease().asked == after(11s));
}

TEST_CASE("a lock that could not be renewed is lost when the stop signal is due, and not later") {
  ListRedis redis;
  Keeper keeper{redis, keeping(30s)};

  for (Milliseconds t{10'000}; t < 24'400ms; t += 100ms) {
    turn(keeper, after(t));
    REQUIRE_FALSE(keeper.lost());
  }
  turn(keeper, after(24'400ms));

  CHECK(keeper.lost());
  CHECK(redis.open() == 0);
}

TEST_CASE("stop() waits for the renewal that is on its way, and the keeper begins no other") {
  ListRedis redis;
  redis.replies_take = true;
  redis.answers(kDone);
  redis.answers(kGone);
  Keeper keeper{redis, keeping(30s)};
  keeper.ready(0, after(10s));
  keeper.stop(within(5s));
  CHECK(keeper.lease().asked == after(10s));

  keeper.look_now();
  turn(keeper, after(20s));
  CHECK(redis.log.size() == 1);
  CHECK_FALSE(keeper.lost());

  bool waits = false;
  keeper.stop({after(40s), [&] { return waits = true; }});
  CHECK_FALSE(waits);  // stop() has nothing to wait for
}

TEST_CASE("a notice of removal makes the keeper renew now, and once") {
  ListRedis redis;
  redis.answers(kDone);
  redis.answers(kDone);
  Keeper keeper{redis, keeping(30s)};
  keeper.look_now();
  CHECK(keeper.wake_at() <= after(1s));
  turn(keeper, after(1s));
  CHECK(redis.log.size() == 1);
  CHECK(keeper.lease().asked == after(1s));
  CHECK(keeper.wake_at() == after(11s));
}

TEST_CASE("a keeper that ends, or is awaited no longer, drops unanswered requests") {
  ListRedis redis;
  redis.replies_take = true;
  redis.answers(kDone);
  {
    Keeper keeper{redis, keeping(30s)};
    keeper.ready(0, after(10s));
    CHECK(redis.open() == 1);
  }
  CHECK(redis.open() == 0);

  Keeper keeper{redis, keeping(30s)};
  keeper.ready(0, after(10s));
  keeper.stop(within(0s));
  CHECK(redis.open() == 0);
}

TEST_CASE(
    "without renewals a keeper asks at the same times whether the lock is its own, and the lease is not extended") {
  ListRedis redis;
  for (int question = 0; question < 3; ++question) redis.answers(kDone);
  Keeper::Options options = keeping(30s, false);
  options.sync_replicas.count = 2;  // yet no WAIT follows, because the question writes nothing
  Keeper keeper{redis, options};

  CHECK(keeper.wake_at() == after(10s));
  turn(keeper, after(10s));
  turn(keeper, after(20s));
  CHECK(redis.log == std::vector<std::string>{"toy/still_ours", "toy/still_ours"});
  CHECK(kToy.rests() == std::vector<Milliseconds>{19'700ms, 9'700ms});  // what is left by our clock
  CHECK_FALSE(keeper.lost());
  CHECK(keeper.lease().asked == kAsked);
  turn(keeper, keeper.stop_at());
  CHECK(keeper.lost());
  CHECK_FALSE(keeper.taken_away());
  CHECK(keeper.why() ==
        "its lease had 5.6s left and is not renewed (--no-renew)");  // of 30 s, it stops at 24.4 s
}

TEST_CASE("without renewals, a keeper that looks late says that the lease has ended") {
  ListRedis redis;
  redis.answers(kDone);
  Keeper keeper{redis, keeping(30s, false)};
  turn(keeper, after(31s));
  CHECK(keeper.lost());
  CHECK(keeper.why() == "its lease has ended (--no-renew)");
}

TEST_CASE("without renewals a notice of removal makes the keeper ask now, and 'not yours' is a loss") {
  ListRedis redis;
  redis.answers(kDone);
  redis.answers(kGone);
  Keeper keeper{redis, keeping(30s, false)};

  keeper.look_now();
  turn(keeper, after(1s));
  CHECK_FALSE(keeper.lost());  // the notice came before the removal, or was a lie
  CHECK(keeper.wake_at() == after(11s));
  keeper.look_now();
  turn(keeper, after(2s));
  CHECK(keeper.taken_away());
  CHECK(redis.log == std::vector<std::string>{"toy/still_ours", "toy/still_ours"});
}

TEST_CASE("without renewals an unanswered question is asked again soon, and ends nothing") {
  ListRedis redis;
  redis.is_silent();
  redis.is_silent();
  redis.answers(kDone);
  Keeper::Options options = keeping(30s, false);
  std::vector<std::string> told;
  options.report_trouble = [&](const std::string& problem) { told.push_back(problem); };
  Keeper keeper{redis, options};

  turn(keeper, after(10s));
  CHECK(keeper.wake_at() == after(11s));
  turn(keeper, after(11s));
  turn(keeper, after(12s));
  CHECK_FALSE(keeper.lost());
  CHECK(keeper.wake_at() == after(22s));
  CHECK(told == std::vector<std::string>{"no answer", ""});
}

TEST_CASE("a look during a renewal follows it, and sees the changes in between") {
  ListRedis redis;
  redis.answers(kDone);
  redis.answers(kGone);
  Keeper keeper{redis, keeping(30s)};

  keeper.ready(0, after(10s));
  keeper.look_now();
  turn(keeper, after(10s));

  CHECK(keeper.taken_away());
  CHECK(redis.log == std::vector<std::string>{"toy/renew", "toy/renew"});
}

TEST_CASE("a lost lock stays lost and is never asked for again") {
  ListRedis redis;
  redis.answers(kGone);
  redis.answers(kDone);
  Keeper keeper{redis, keeping(30s)};

  turn(keeper, after(10s));
  turn(keeper, after(20s));

  CHECK(keeper.lost());
  CHECK(redis.log.size() == 1);
}

TEST_CASE("of five deployments three renewals are enough, and three refusals are a loss") {
  ListRedis redis{5};
  Keeper keeper{redis, keeping(30s)};

  SUBCASE("three renewals") {
    redis.answers({kDone, kDone, kDone, std::nullopt, kGone});
    turn(keeper, after(10s));
    CHECK(keeper.lease().asked == after(10s));
  }
  SUBCASE("three refusals") {
    redis.answers({kDone, kGone, kGone, std::nullopt, kGone});
    turn(keeper, after(10s));
    CHECK(keeper.lost());
  }
  SUBCASE("two of each: not known") {
    redis.answers({kDone, kDone, kGone, std::nullopt, kGone});
    turn(keeper, after(10s));
    CHECK_FALSE(keeper.lost());
    CHECK(keeper.lease().asked == kAsked);
  }
}

TEST_CASE("a renewal counts only when the replicas have it") {
  ListRedis redis;
  Keeper::Options options = keeping(30s);
  options.sync_replicas.count = 2;
  Keeper keeper{redis, options};

  redis.answers(kDone);
  redis.answers(Reply{1});  // WAIT: one of two replicas
  turn(keeper, after(10s));
  turn(keeper, after(10s));
  CHECK(keeper.lease().asked == kAsked);

  redis.answers(kDone);
  redis.answers(Reply{2});
  turn(keeper, after(11s));
  turn(keeper, after(11s));
  CHECK(keeper.lease().asked == after(11s));
}

TEST_CASE("a connection that has renewed several parts is asked once about the replicas") {
  ListRedis redis;
  const Toy other{"other"};
  Keeper::Options options = keeping_with(other);
  options.sync_replicas.count = 1;
  Keeper keeper{redis, options};

  redis.answers(kDone);
  redis.answers(kDone);
  redis.answers(Reply{1});
  turn(keeper, after(10s));
  turn(keeper, after(10s));
  CHECK(redis.log == std::vector<std::string>{"toy/renew", "toy/renew", "WAIT"});
  CHECK(keeper.lease().asked == after(10s));
}

TEST_CASE("a renewal whose WAIT is not answered is reported as trouble, not as a renewal") {
  ListRedis redis;
  Keeper::Options options = keeping(30s);
  options.sync_replicas.count = 1;
  std::string trouble;
  options.report_trouble = [&](const std::string& problem) { trouble = problem; };
  Keeper keeper{redis, options};

  redis.answers(kDone);
  redis.is_silent();
  turn(keeper, after(10s));
  turn(keeper, after(10s));
  CHECK(keeper.lease().asked == kAsked);
  CHECK(trouble ==
        "not confirmed by 1 replica in time (--sync-replicas); see INFO replication on the server");

  turn(keeper, keeper.stop_at());
  REQUIRE(keeper.lost());
  CHECK(contains(keeper.why(), trouble));
}

TEST_CASE("an answer to WAIT that is no number confirms nothing and ends nothing") {
  ListRedis redis;
  Keeper::Options options = keeping(30s);
  options.sync_replicas.count = 1;
  Keeper keeper{redis, options};

  redis.answers(kDone);
  redis.answers(Reply{std::string{"?"}});
  turn(keeper, after(10s));
  turn(keeper, after(10s));
  CHECK(keeper.lease().asked == kAsked);
  CHECK_FALSE(keeper.lost());
}

TEST_CASE("a quorum of confirmations is wanted for each part, not for all of them together") {
  ListRedis redis{3};
  const Toy other{"other"};
  Keeper::Options options = keeping_with(other);
  options.sync_replicas.count = 1;
  Keeper keeper{redis, options};

  redis.answers({kDone, kDone, kDone});                // k
  redis.answers({kDone, std::nullopt, std::nullopt});  // other
  turn(keeper, after(10s));
  turn(keeper, after(10s));
  CHECK(keeper.lease().asked == kAsked);
  CHECK_FALSE(keeper.lost());
}

TEST_CASE("a lock with renewals on too few replicas reports that when it is lost") {
  ListRedis redis{3};
  Keeper::Options options = keeping(30s);
  options.sync_replicas.count = 1;
  Keeper keeper{redis, options};

  redis.answers(kDone);
  for (const int replicas : {1, 0, 0}) redis.answers(Reply{replicas});  // the answers of the nodes to WAIT
  turn(keeper, after(10s));
  turn(keeper, after(10s));
  CHECK(keeper.lease().asked == kAsked);

  turn(keeper, keeper.stop_at());
  REQUIRE(keeper.lost());
  CHECK(contains(keeper.why(), "0 of 1 replicas"));
}

TEST_CASE("several parts must all be renewed in one try") {
  ListRedis redis;
  const Toy other{"other"};
  Keeper keeper{redis, keeping_with(other)};

  redis.is_silent();
  redis.answers(kDone);
  turn(keeper, after(10s));
  CHECK(keeper.lease().asked == kAsked);

  redis.answers(kDone);
  redis.is_silent();
  turn(keeper, after(11s));
  CHECK(keeper.lease().asked == kAsked);

  redis.answers(kDone);
  redis.answers(kDone);
  turn(keeper, after(12s));
  CHECK(keeper.lease().asked == after(12s));
}

TEST_CASE("an answer to a renewal that cannot be read confirms nothing and ends nothing") {
  ListRedis redis;
  redis.answers(Reply{std::string{"?"}});
  Keeper keeper{redis, keeping(30s)};

  turn(keeper, after(10s));
  CHECK_FALSE(keeper.lost());
  CHECK(keeper.lease().asked == kAsked);
}

TEST_CASE("a keeper notices a lost part although the renewal of another part is not answered") {
  ListRedis redis;
  const Toy other{"other"};
  Keeper keeper{redis, keeping_with(other)};

  redis.is_silent();
  redis.answers(kGone);
  turn(keeper, after(10s));
  CHECK(keeper.lost());
}
