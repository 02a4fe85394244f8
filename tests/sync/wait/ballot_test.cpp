#include "sync/wait/ballot.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "support/list_redis.h"
#include "support/toy_lock.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const Reply kUnreadable{std::string{"?"}};
const Reply kDenied = Reply::error("NOAUTH Authentication required.");

/// The result of the ballot when the nodes give these answers.
BallotResult result_of(const ListRedis::Answer& answers, const Waitable& what = kToy) {
  ListRedis redis{answers.size()};
  redis.answers(answers);
  return Ballot{what, redis, Clock::now()}.result(redis.run_all(what.ask(), {}, within(1000ms)));
}

const std::optional<Reply> kSilent;

/// A toy whose replies are held or busy. A number: held, at this time of the server's clock. A text such as "a:1 500":
/// busy, with this holder, and for this many ms if they are given.
struct Timed final : Toy {
  Timed() : Toy{"k"} {}
  AcquireAnswer decode(const Reply& reply) const override {
    if (reply.kind() == Reply::Kind::integer) return Held{.server_time = reply.server_time()};
    const std::vector<std::string> words = split(reply.text(), ' ');
    Busy busy{.holder = words.front()};
    if (words.size() > 1) busy.retry_after = Milliseconds{std::stoi(words.back())};
    return busy;
  }
};

Reply busy_reply(std::string words) { return Reply{std::move(words)}; }

}  // namespace

TEST_CASE("a round is held if a quorum grants it, with any other answers") {
  const BallotResult result = result_of({kBusy, kHeld, kSilent, kHeld, kHeld});
  CHECK(result.held());
  CHECK_FALSE(result.busy());
  CHECK_FALSE(result.failure());
  CHECK(result.answers ==
        std::vector<Answer>{Answer::busy, Answer::granted, Answer::failed, Answer::granted, Answer::granted});
}

TEST_CASE("a round is busy if enough nodes have answered, and too few have granted it") {
  CHECK(result_of({kBusy, kBusy, kBusy, kSilent, kSilent}).busy());
  CHECK(result_of({kHeld, kHeld, kBusy, kSilent, kSilent}).busy());
}

TEST_CASE("with too many silent nodes the round has no quorum, although the others are busy") {
  const BallotResult result = result_of({kBusy, kSilent, kHeld, kSilent, kSilent});
  CHECK_FALSE(result.busy());
  REQUIRE(result.failure());
  CHECK(result.failure()->kind == Error::unreachable);
  CHECK(result.failure()->text ==
        "no quorum: 2 of 5 servers answer, 3 are needed (node 2: no answer; node 4: no "
        "answer; node 5: no answer)");
  CHECK(result.may_be_granted);
}

TEST_CASE("a server that has not answered yet does not count as one that answers") {
  ListRedis redis{3};
  redis.answers({kSilent, kSilent, kHeld});
  Votes votes = redis.run_all(kToy.ask(), {}, within(1000ms));
  votes.back().result = {};
  const BallotResult result = Ballot{kToy, redis, Clock::now()}.result(votes);
  REQUIRE(result.failure());
  CHECK(result.failure()->text ==
        "no quorum: 0 of 3 servers answer, 2 are needed (node 1: no answer; node 2: no answer)");
}

TEST_CASE("a server that refuses the lock is named where it and the failures prevent a quorum") {
  const BallotResult result = result_of({kForeign, kSilent, kHeld});
  REQUIRE(result.failure());
  const std::string& text = result.failure()->text;
  CHECK_MESSAGE(text.starts_with("no quorum: 1 of 3 servers can grant it, 2 are needed (node 1: "), text);
  CHECK_MESSAGE(text.ends_with("; node 2: no answer)"), text);
}

TEST_CASE("a server that denies us is final only where the others are too few") {
  CHECK(result_of({kDenied}).failure()->kind == Error::denied);
  CHECK(result_of({kDenied, kBusy, kBusy}).busy());
  CHECK(result_of({kDenied, kHeld, kHeld}).held());
  CHECK(result_of({kDenied, kSilent, kHeld}).failure()->kind == Error::unreachable);
  CHECK(result_of({kDenied, kDenied, kHeld}).failure()->kind == Error::denied);
}

TEST_CASE("another type under the key is a refusal only if no quorum can be had") {
  CHECK(result_of({kForeign}).refused());
  CHECK(result_of({kForeign, kHeld, kHeld}).held());
  CHECK(result_of({kForeign, kHeld, kBusy}).busy());
  CHECK(result_of({kForeign, kForeign, kHeld}).refused());
}

TEST_CASE("an answer that cannot be read is a failure of that server alone") {
  CHECK(result_of({kUnreadable, kHeld, kHeld}).held());
  CHECK(result_of({kUnreadable}).failure()->kind == Error::internal);
}

TEST_CASE("votes are split if some are granted and no other owner has a quorum") {
  CHECK_FALSE(result_of({kBusy, kBusy, kBusy}).split);
  CHECK_FALSE(result_of({kHeld, kBusy, kBusy}).split);  // the busy nodes give one other owner a quorum
  CHECK(result_of({kHeld, kHeld, kBusy, kBusy, kSilent}).split);
}

TEST_CASE("a busy quorum is asked again when as many nodes may be free as are missing") {
  const Timed timed;
  const BallotResult one_missing =
      result_of({Reply{7}, Reply{7}, busy_reply("a 300"), busy_reply("a 100"), busy_reply("a 200")}, timed);
  CHECK(one_missing.busy()->retry_after == 100ms);
  const BallotResult two_missing =
      result_of({Reply{7}, busy_reply("a 300"), busy_reply("a 100"), busy_reply("a 200"), kSilent}, timed);
  CHECK(two_missing.busy()->retry_after == 200ms);
  const BallotResult all_missing =
      result_of({busy_reply("a 300"), busy_reply("a 100"), busy_reply("a 200")}, timed);
  CHECK(all_missing.busy()->retry_after == 200ms);
  const BallotResult unknown = result_of({busy_reply("a"), busy_reply("a 100"), busy_reply("a")}, timed);
  CHECK_FALSE(unknown.busy()->retry_after);
}

TEST_CASE("a busy quorum names the holder that has it at most nodes") {
  CHECK(result_of(
            {busy_reply("a 1"), busy_reply("b 1"), busy_reply("b 1"), busy_reply("c 1"), busy_reply("b 1")},
            Timed{})
            .busy()
            ->holder == "b");
}

TEST_CASE("a hold begins at the middle one of the times of the nodes that granted it") {
  CHECK(result_of({Reply{900}, Reply{5}, Reply{500}}, Timed{}).held()->server_time == ServerTime{500ms});
}

TEST_CASE("a round is not undone at nodes that were never asked") {
  ListRedis redis{3};
  Votes votes(3);
  for (Vote& vote : votes) vote.result = Failure{Error::unreachable, "no answer"};
  CHECK_FALSE(Ballot{kToy, redis, TimePoint{}}.result(votes).may_be_granted);
  votes[1].attempts = 1;
  CHECK(Ballot{kToy, redis, TimePoint{}}.result(votes).may_be_granted);
}

TEST_CASE("a lease counts from the first call that was granted") {
  ListRedis redis{3};
  Votes votes(3);
  for (std::size_t node = 0; node < 3; ++node) {
    votes[node].asked = TimePoint{} + 10ms * (3 - node);
    votes[node].result = node == 2 ? kBusy : kHeld;
  }
  CHECK(Ballot{kToy, redis, TimePoint{}}.result(votes).asked == TimePoint{} + 20ms);
}

TEST_CASE("a ballot waits for nodes that could still make a quorum, and as long again for the others") {
  ListRedis redis{3};
  const TimePoint begun{};
  const auto after = [&](Milliseconds time) { return plus(begun, time); };
  Ballot ballot{kToy, redis, begun};
  Votes votes(3);
  CHECK(ballot.enough_from(votes, begun) == kNever);

  votes[0].result = kBusy;
  CHECK(ballot.enough_from(votes, after(10ms)) == kNever);
  SUBCASE("granted by two") {
    votes[1].result = kHeld;
    votes[2].result = kHeld;
    CHECK(ballot.enough_from(votes, after(20ms)) == TimePoint::min());
  }
  SUBCASE("granted by two, and another call follows: it goes to the third, too, if that answers soon") {
    votes[1].result = kHeld;
    CHECK(ballot.enough_from(votes, after(20ms), Next::another_call) == kNever);
    votes[0].result = kHeld;
    Ballot next{kToy, redis, begun};
    CHECK(next.enough_from(votes, after(20ms), Next::another_call) == after(45ms));
  }
  SUBCASE("a quorum cannot be had any more") {
    votes[1].result = kBusy;
    CHECK(ballot.enough_from(votes, after(20ms)) == after(45ms));
    CHECK(ballot.enough_from(votes, after(30ms)) == after(45ms));
  }
  SUBCASE("failures prevent a quorum: the third gets the time to say that it lives") {
    votes[0].result = votes[1].result = Failure{Error::unreachable, "connection refused"};
    Ballot failed{kToy, redis, begun};
    CHECK(failed.enough_from(votes, after(20ms)) == after(140ms));
  }
}

TEST_CASE("a vote is decoded when it arrives, and never again") {
  struct Counting final : Waitable {
    Call encode(Milliseconds) const override { return {}; }
    AcquireAnswer decode(const Reply&) const override { return ++read_, Busy{}; }
    std::optional<Call> undo(Wake) const override { return std::nullopt; }
    std::vector<Channel> channels() const override { return {}; }
    const LockName& name() const override { return name_; }
    mutable int read_ = 0;
    LockName name_{"k"};
  } counting;
  ListRedis redis{3};
  Ballot ballot{counting, redis, TimePoint{}};
  Votes votes(3);
  votes[0].result = kBusy;
  static_cast<void>(ballot.enough_from(votes, TimePoint{}));
  votes[1].result = kBusy;
  static_cast<void>(ballot.enough_from(votes, TimePoint{}));
  static_cast<void>(ballot.result(votes));
  CHECK(counting.read_ == 2);
}
