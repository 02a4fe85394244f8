// The cost of a script for a server: the number of its commands and of its Lua instructions.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "interpreter.h"
#include "store.h"
#include "sync/kinds/permit_lock.h"

using namespace rlock;
using namespace rlock::model;

namespace {

struct Cost {
  std::int64_t commands;
  std::int64_t instructions;
};

/// A pool with this many taken permits.
class SemaphorePool {
 public:
  explicit SemaphorePool(int taken) {
    lua_.count_instructions();
    constexpr int kAtOnce = 100;
    for (int left = taken; left > 0; left -= kAtOnce)
      run(permits(fmt::format("crowd{}:1", left), std::min(left, kAtOnce)).ask(Milliseconds{0}));
  }

  static PermitLock permits(const std::string& owner, std::int64_t count = 1) {
    const Claim claim{.name = LockName{"pool"}, .owner = Owner{owner}};
    return {claim, {.count = count, .total = 9990}};
  }

  Cost run(const Call& call) {
    const std::int64_t commands = store_.commands(), instructions = lua_.instructions();
    REQUIRE_FALSE(lua_.run(call, store_).is_error());
    return {store_.commands() - commands, lua_.instructions() - instructions};
  }

  std::string taken() { return std::to_string(store_.call({"zcard", "{pool}:timeout"}).integer()); }

 private:
  Interpreter lua_;
  Store store_{1'700'000'000'000};
};

}  // namespace

TEST_CASE(
    "a permit is renewed and released at the same cost, however many are taken, and acquired with a search for its slot more") {
  const PermitLock mine = SemaphorePool::permits("me:1");
  struct Step {
    Call call;
    std::int64_t search;  ///< commands at most
    std::vector<Cost> costs{};
  };
  constexpr std::int64_t kSearch = 2 * 13;  // 2 * log2(9900)
  std::vector<Step> steps{{mine.ask(Milliseconds{0}), kSearch}, {mine.renew(), 0}, {mine.release({}), 0}};
  for (const int taken : {1, 1000, 9900}) {
    CAPTURE(taken);
    SemaphorePool pool{taken};
    REQUIRE(pool.taken() == std::to_string(taken));
    for (Step& step : steps) step.costs.push_back(pool.run(step.call));
    CHECK(pool.taken() == std::to_string(taken));
  }
  for (const Step& step : steps) {
    const std::string_view name = step.call.script->name;
    const auto& [one, thousand, most] = std::tie(step.costs[0], step.costs[1], step.costs[2]);
    MESSAGE(fmt::format("{} at 1, 1000 and 9900 taken: {}, {} and {} commands, {}, {} and {} instructions",
                        name, one.commands, thousand.commands, most.commands, one.instructions,
                        thousand.instructions, most.instructions));
    CHECK(most.commands <= one.commands + step.search);
    CHECK(most.commands * 10 <= thousand.commands * 12);
    CHECK(most.instructions * 10 <= thousand.instructions * 12);
    if (step.search == 0) CHECK(most.instructions == one.instructions);
  }
}

TEST_CASE(
    "to acquire a thousand permits beside many costs two commands for each, because their slots are found in a row") {
  constexpr std::int64_t kCount = 1000;
  for (const int taken : {1, 8900}) {
    CAPTURE(taken);
    SemaphorePool pool{taken};
    CHECK(pool.run(SemaphorePool::permits("me:1", kCount).ask(Milliseconds{0})).commands <= 2 * kCount + 100);
  }
}
