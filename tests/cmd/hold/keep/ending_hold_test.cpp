#include "cmd/hold/keep/ending_hold.h"

#include <doctest/doctest.h>

#include "base/owner_id.h"

using namespace rlock;

namespace {

const TimePoint kAcquired = Clock::now();

HoldRequest ending_request() {
  HoldRequest request;
  request.names = {LockName{"a"}, LockName{"b"}};
  request.type = find_lock_type("lock");
  request.deployment.targets = {parse_target("redis://h")};
  request.min_hold = Milliseconds{60000};
  return request;
}

/// Key a is joined: a user has named its owner. Key b has an owner of ours.
HeldKeys two_holds(const HoldRequest& request) {
  const InheritedHold outer{"lock", Owner{"deploy-1"}, LockName{"a"}};
  WantedKeys wanted{request, {.owner = new_owner(), .above = {outer}}};
  return {std::move(wanted),
          {.asked = kAcquired, .held = {{.server_time = ServerTime{Milliseconds{5000}}}}},
          kAcquired};
}

EndingHold ending(const HeldKeys& keys, std::optional<int> stays_after, Lost lost) {
  const PastHold past = keys.past({.outcome = HoldOutcome::ran}, plus(kAcquired, Milliseconds{2000}));
  return ending_hold(keys, keys.parts(), past, stays_after, lost, plus(kAcquired, Milliseconds{9000}));
}

}  // namespace

TEST_CASE(
    "only the key of an owner who returns may be another's after a loss, and only its release has an end") {
  const HoldRequest request = ending_request();
  const HeldKeys keys = two_holds(request);
  EndingHold ours = ending(keys, std::nullopt, Lost::no);
  REQUIRE(ours.parts.size() == 2);
  CHECK_FALSE(ours.may_be_anothers(ours.parts[0]));
  CHECK(ours.latest() == plus(kAcquired, Milliseconds{9000}));
  ours.parts.erase(ours.parts.begin());
  CHECK(ours.latest() == kNever);

  const EndingHold lost = ending(keys, std::nullopt, Lost::yes);
  CHECK(lost.may_be_anothers(lost.parts[0]));
  CHECK_FALSE(lost.may_be_anothers(lost.parts[1]));
  CHECK(lost.latest() == kNever);  // release_held() only records the end of the first
}

TEST_CASE("keys that stay do so from the acquire, on the server's clock") {
  const HoldRequest request = ending_request();
  const HeldKeys keys = two_holds(request);
  const EndingHold stays = ending(keys, 0, Lost::no);
  CHECK(stays.options.keep_until == ServerTime{Milliseconds{65000}});
  CHECK(stays.kept == Milliseconds{58000});
  const EndingHold freed = ending(keys, std::nullopt, Lost::no);
  CHECK_FALSE(freed.options.keep_until);
  CHECK(freed.kept == Milliseconds{0});
}
