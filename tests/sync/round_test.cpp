#include "sync/round.h"

#include <doctest/doctest.h>

#include "support/list_redis.h"
#include "support/toy_lock.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const Toy kToy{"k"};
const Reply kUnreadable{std::string{"?"}};
const Reply kDenied = Reply::error("NOAUTH Authentication required.");

/// What a round came to in which the deployments gave these answers.
Round round_of(const ListRedis::Answer& answers) {
  ListRedis redis{answers.size()};
  redis.answers(answers);
  return count(kToy, redis, redis.run(kToy.ask(), within(1000ms), Redis::Insist::once, {}));
}

const std::optional<Reply> kSilent;

}  // namespace

TEST_CASE("a round is held where a quorum grants it, whatever the others say") {
  const Round round = round_of({kBusy, kHeld, kSilent, kHeld, kHeld});
  CHECK(round.held.has_value());
  CHECK_FALSE(round.busy);
  CHECK_FALSE(round.failure);
  CHECK(round.said ==
        std::vector<Said>{Said::busy, Said::granted, Said::failed, Said::granted, Said::granted});
}

TEST_CASE("it is busy where a quorum could have granted it") {
  CHECK(round_of({kBusy, kBusy, kBusy, kSilent, kSilent}).busy);
  CHECK(round_of({kHeld, kHeld, kBusy, kSilent, kSilent}).busy);
}

TEST_CASE("where too many are silent it is no quorum, although the others are busy") {
  const Round round = round_of({kBusy, kSilent, kHeld, kSilent, kSilent});
  CHECK_FALSE(round.busy);
  REQUIRE(round.failure);
  CHECK(round.failure->kind == Error::unreachable);
  CHECK(round.failure->text ==
        "no quorum: 2 of 5 servers answer, 3 are needed (node 2: no answer; node 4: no "
        "answer; node 5: no answer)");
  CHECK(round.may_be_granted);
}

TEST_CASE("a server that denies us is final only where the others are too few") {
  CHECK(round_of({kDenied}).failure->kind == Error::denied);
  CHECK(round_of({kDenied, kBusy, kBusy}).busy);
  CHECK(round_of({kDenied, kHeld, kHeld}).held);
  CHECK(round_of({kDenied, kSilent, kHeld}).failure->kind == Error::unreachable);
  CHECK(round_of({kDenied, kDenied, kHeld}).failure->kind == Error::denied);
}

TEST_CASE("something else under the key is refused only where a quorum never can be had") {
  CHECK(round_of({kForeign}).refused);
  CHECK(round_of({kForeign, kHeld, kHeld}).held);
  CHECK(round_of({kForeign, kHeld, kBusy}).busy);
  CHECK(round_of({kForeign, kForeign, kHeld}).refused);
}

TEST_CASE("an answer that cannot be read is a failure of that server alone") {
  CHECK(round_of({kUnreadable, kHeld, kHeld}).held);
  CHECK(round_of({kUnreadable}).failure->kind == Error::internal);
}

TEST_CASE("votes are split where some granted it and nobody else has a quorum") {
  CHECK_FALSE(round_of({kBusy, kBusy, kBusy}).split);
  CHECK_FALSE(round_of({kHeld, kBusy, kBusy}).split);  // one other has both
  CHECK(round_of({kHeld, kHeld, kBusy, kBusy, kSilent}).split);
}

TEST_CASE("a decision waits for those who could still make a quorum, and hardly for the others") {
  ListRedis redis{3};
  Decision decision{kToy, redis};
  Votes votes(3);
  CHECK(decision.enough_from(votes) == kNever);

  votes[0].reply = kBusy;
  CHECK(decision.enough_from(votes) == kNever);
  SUBCASE("granted by two") {
    votes[1].reply = kHeld;
    votes[2].reply = kHeld;
    CHECK(decision.enough_from(votes) <= Clock::now());
  }
  SUBCASE("hopeless") {
    votes[1].reply = kBusy;
    const TimePoint enough = decision.enough_from(votes);
    CHECK(enough > Clock::now());
    CHECK(enough < later(Clock::now(), 50ms));
    CHECK(decision.enough_from(votes) == enough);
  }
}
