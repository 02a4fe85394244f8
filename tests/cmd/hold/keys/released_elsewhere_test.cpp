// Which keys of a hold its owner has released by another process, as the answers of servers tell it.

#include "cmd/hold/keys/released_elsewhere.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/list_redis.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const Reply kNothing{};
const Reply kMark{std::string{"1"}};

/// A hold of some keys.
struct SomeKeys {
  explicit SomeKeys(const std::vector<std::string>& names) {
    for (const std::string& name : names) request.names.emplace_back(name);
    request.type = find_lock_type("lock");
    request.deployment.targets = {parse_target("redis://h")};
  }

  /// `above`: the holds of a process above us, which we join.
  HeldKeys keys(const std::vector<InheritedHold>& above = {}) const {
    const TimePoint asked = Clock::now();
    return {WantedKeys{request, {.owner = owner, .above = above}}, {.asked = asked, .held = {{}}}, asked};
  }

  const Owner owner{"us:1"};
  HoldRequest request{};
};

std::string names_in(const std::vector<Part>& parts) {
  std::string names;
  for (const Part& part : parts) names += part.lock->name().str();
  return names;
}

}  // namespace

TEST_CASE("a key is released if one server has the mark of its release") {
  const SomeKeys held{{"a", "b", "c"}};
  const HeldKeys keys = held.keys();
  ListRedis redis{3};
  redis.replies_take = true;
  ReleasedElsewhere elsewhere{keys};
  elsewhere.begin(redis, 1000ms);
  CHECK(redis.log.empty());  // an owner that nobody named has no earlier releases
  redis.answers({kNothing, kMark, kNothing});
  redis.answers(kNothing);
  redis.answers({std::nullopt, kNothing, kMark});
  CHECK(names_in(elsewhere.without_released(redis, keys.parts(), 1000ms)) == "b");
}

TEST_CASE("an owner that a user named has released a key if the number of its releases is another one") {
  SomeKeys held{{"a", "b", "c", "d", "e"}};
  held.request.owner = held.owner;
  const HeldKeys keys = held.keys();
  ListRedis redis;
  redis.replies_take = true;
  ReleasedElsewhere elsewhere{keys};
  const Reply before{std::string{"4711"}}, after{std::string{"4712"}};
  for (const Reply& number : {before, before, kNothing, before}) redis.answers(number);
  redis.is_silent();
  elsewhere.begin(redis, 1000ms);
  SUBCASE("b and c are released; of e nobody knows the number before") {
    for (const Reply& number : {before, after, after, kNothing, after}) redis.answers(number);
    CHECK(names_in(elsewhere.without_released(redis, keys.parts(), 1000ms)) == "ade");
  }
  SUBCASE("the server is silent") {
    CHECK(names_in(elsewhere.without_released(redis, keys.parts(), 1000ms)) == "abcde");
  }
}

TEST_CASE("a hold inside another one is released if the server has noted the end of its request") {
  const SomeKeys held{{"a", "b", "c"}};
  const Owner outer{"outer:1"};
  const HeldKeys keys = held.keys(
      {{"lock", outer, LockName{"a"}}, {"lock", outer, LockName{"b"}}, {"lock", outer, LockName{"c"}}});
  ListRedis redis;
  redis.replies_take = true;
  redis.answers(Reply{std::string{"undone"}});
  redis.answers(kMark);
  redis.answers(kNothing);
  const ReleasedElsewhere elsewhere{keys};
  CHECK(names_in(elsewhere.without_released(redis, keys.parts(), 1000ms)) == "bc");
}
