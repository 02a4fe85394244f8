#include "sync/calls/answers.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "support/usual_names.h"
#include "sync/calls/requests.h"
#include "sync/kinds/arrival.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/plain.h"
#include "sync/kinds/together.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Claim claim_without_lease(const std::string& owner, const std::string& key = "k") {
  return {.name = LockName{key}, .owner = Owner{owner}};
}

}  // namespace

TEST_CASE("an unknown word is no answer to a removal by force") {
  CHECK(decode_forced(kKey, "lock", Reply{std::vector{Reply{"absent"}}}).how == Forced::How::nothing_there);
  CHECK_THROWS_AS(decode_forced(kKey, "lock", Reply{std::vector{Reply{"hm"}}}), Error);
}

TEST_CASE("the request of an inner hold tells whether it is held, reads, or has ended") {
  CHECK(read_inner(Reply{"1"}) == InnerState::held);
  CHECK(read_inner(Reply{"read"}) == InnerState::reads);
  CHECK(read_inner(Reply{"undone"}) == InnerState::ended);
  CHECK(read_inner(Reply{}) == InnerState::unknown);
}

TEST_CASE("an acquire carries a request if it is an inner hold, or if its owner may come back") {
  Claim returning = claim_without_lease("o:1");
  returning.owner_returns = true;
  CHECK(RequestKeys{returning, Hold::first}.carries_request());
  CHECK(RequestKeys{returning, Hold::first}.release_way() == Way::again);
  CHECK(RequestKeys{claim_without_lease("o:1"), Hold::inner}.carries_request());
  CHECK(RequestKeys{claim_without_lease("o:1"), Hold::inner}.release_way() == Way::inner);
  CHECK_FALSE(RequestKeys{claim_without_lease("o:1"), Hold::first}.carries_request());
  CHECK(RequestKeys{claim_without_lease("o:1"), Hold::first}.acquire().empty());
  CHECK(RequestKeys{claim_without_lease("o:1"), Hold::first}.release_way() == Way::first);
}

TEST_CASE("a waiter with --newest arrives as the owner that the user named") {
  const auto names = [](const std::string& owner) {
    const std::vector<std::string> args = Arrival{claim_without_lease(owner), kinds::lock, "us"}.ask().args;
    return std::ranges::find(args, "me:1") != args.end();
  };
  CHECK(names("me:1"));
  CHECK_FALSE(names(""));
}

TEST_CASE("of several keys, the busy one says in which line we stand") {
  const Lock first{claim_without_lease("o:1", "a")}, second{claim_without_lease("o:1", "b")};
  const std::vector<const Lockable*> members{&first, &second};
  const auto together = Together::of(members);
  REQUIRE(together);
  CHECK(together->line({.position = 1, .key = LockName{"b"}}) != nullptr);
  CHECK(together->line({.position = 1, .key = LockName{"other"}}) == nullptr);
}

TEST_CASE("an inner hold of a lock is renewed while its slot moves, too") {
  CHECK(Lock{claim_without_lease("o:1"), Hold::inner}.renew().while_slot_moves.size() == 1);
}
