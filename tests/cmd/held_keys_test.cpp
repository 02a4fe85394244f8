#include "cmd/run/held_keys.h"

#include <doctest/doctest.h>

#include "base/random.h"

using namespace rlock;

namespace {

HoldRequest request_for(const std::vector<std::string>& keys, std::string_view type = "lock") {
  HoldRequest request;
  for (const std::string& key : keys) request.names.emplace_back(key);
  request.type = find_lock_type(type);
  request.deployment.targets = {parse_target("redis://h")};
  return request;
}

const Owner kOurs{"us:1"};
const InheritedHold kOuter{"lock", Owner{"outer:1"}, LockName{"a"}};

HeldKeys keys_of(const HoldRequest& request, const std::vector<InheritedHold>& above = {}) {
  return {request, Metadata{}, kOurs, 0, above, false};
}

}  // namespace

TEST_CASE("keys that no process above us holds get our owner, and our metadata beside each acquire") {
  const HoldRequest request = request_for({"a", "b"});
  const HeldKeys keys = keys_of(request);
  CHECK_FALSE(keys.joins());
  CHECK_FALSE(keys.joins_all());
  CHECK(keys.id() == kOurs);
  CHECK_FALSE(keys.acquire_request().together == std::nullopt);
  for (const Part& part : keys.parts()) {
    CHECK(part.lock->owner() == kOurs);
    CHECK(part.followers.size() == 1);
    CHECK(part.release_followers.size() == 1);
  }
}

TEST_CASE("one key needs no script for several keys, and keys in several slots of a Cluster can have none") {
  const HoldRequest one = request_for({"a"});
  CHECK(keys_of(one).acquire_request().together == std::nullopt);
  HoldRequest several = request_for({"a", "b"});
  several.deployment.targets.front().topology = Target::Topology::cluster;
  CHECK(keys_of(several).acquire_request().together == std::nullopt);
  HoldRequest one_slot = request_for({"{t}a", "{t}b"});
  one_slot.deployment.targets = several.deployment.targets;
  CHECK_FALSE(keys_of(one_slot).acquire_request().together == std::nullopt);
}

TEST_CASE("a key that a process above us holds is joined, and its metadata stays as it is") {
  const HoldRequest request = request_for({"a", "b"});
  const HeldKeys some = keys_of(request, {kOuter});
  CHECK(some.joins());
  CHECK_FALSE(some.joins_all());
  CHECK(some.owner() == kOurs);
  CHECK(some.parts().front().lock->owner() == kOuter.owner);
  CHECK(some.parts().front().followers.empty());
  CHECK(some.parts().front().release_followers.size() == 1);
  CHECK(some.parts().back().lock->owner() == kOurs);
  CHECK(some.parts().back().followers.size() == 1);

  const HeldKeys all = keys_of(request, {kOuter, {"lock", kOuter.owner, LockName{"b"}}});
  CHECK(all.joins_all());
  CHECK(all.owner() == kOuter.owner);
  const HeldKeys of_two = keys_of(request, {kOuter, {"lock", Owner{"another:1"}, LockName{"b"}}});
  CHECK(of_two.joins());
  CHECK_FALSE(of_two.joins_all());
  CHECK(of_two.owner() == kOurs);
}

TEST_CASE("only an owner that a user named may come back") {
  HoldRequest request = request_for({"a"});
  const Owner of_rlock = new_owner();
  const auto returns = [&](const std::optional<Owner>& outer) {
    return keys_of(request, outer ? std::vector{InheritedHold{"lock", *outer, LockName{"a"}}}
                                  : std::vector<InheritedHold>{})
        .owner_returns();
  };
  const HeldKeys ours{request, Metadata{}, of_rlock, 0, {}, false};
  CHECK_FALSE(ours.owner_returns());
  CHECK_FALSE(returns(of_rlock));
  CHECK(returns(Owner{"ci-42"}));
  request.owner = of_rlock;
  CHECK(returns(std::nullopt));
}

TEST_CASE("a hold has its type in its metadata only if the key does not tell it, and its end has the times") {
  for (const auto& [type, noted] : {std::pair{"lock", ""}, {"fair", "fair"}, {"fenced", "fenced"}}) {
    CAPTURE(type);
    const HoldRequest request = request_for({"a"}, type);
    HeldKeys keys = keys_of(request);
    const TimePoint asked = Clock::now();
    keys.take({.asked = asked, .held = {{.server_time = Milliseconds{5000}}}}, asked);
    const PastHold past = keys.past({.outcome = "ran"}, plus(asked, Milliseconds{300}));
    CHECK(past.type == type);
    CHECK(past.facts.since == Milliseconds{5000});
    CHECK(past.ended == Milliseconds{5300});
    CHECK(past.facts.type == noted);
  }
}
