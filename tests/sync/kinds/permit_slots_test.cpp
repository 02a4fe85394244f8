// Each permit of rlock has a slot: the smallest number that no other permit has.

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "support/permit_scene.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

TEST_CASE("the permit after one that another client gave back has the smallest slot again") {
  Permitted scene;
  const AcquireAnswer first = scene.ask(permits("a:1", {.total = 1}));
  scene.server.cli({"ZREM", "{pool}:timeout", std::get<Held>(first).permits[0]});  // as Redisson does
  scene.server.cli({"INCR", "pool"});
  CHECK(slots_of(scene.ask(permits("b:1", {.total = 1}))) == std::vector<std::int64_t>{0});
}

TEST_CASE("slots are the smallest numbers that no living permit has") {
  Permitted scene;
  CHECK(slots_of(scene.ask(permits("a:1", {.total = 4}))) == std::vector<std::int64_t>{0});
  CHECK(slots_of(scene.ask(permits("b:1", {.count = 2, .total = 4}))) == std::vector<std::int64_t>{1, 2});
  CHECK(slots_of(scene.ask(permits("c:1", {.total = 4}))) == std::vector<std::int64_t>{3});
  scene.release(permits("b:1", {.count = 2}));
  CHECK(slots_of(scene.ask(permits("d:1", {.total = 4}))) == std::vector<std::int64_t>{1});
  scene.release(permits("a:1"));
  CHECK(slots_of(scene.ask(permits("e:1", {.count = 2, .total = 4}))) == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("permits are renewed and released, and slots stay apart, without the notes about slots") {
  Permitted scene;
  const PermitLock mine = permits("a:1", {.count = 2, .total = 4});
  CHECK(slots_of(scene.ask(mine)) == std::vector<std::int64_t>{0, 1});
  for (const std::string word : {"none", "string"}) {
    scene.server.del(kSlots);
    if (word == "string") scene.server.cli({"SET", kSlots, "junk"});
    CHECK(slots_of(scene.ask(permits("b:1", {.total = 4}))) == std::vector<std::int64_t>{2});
    scene.server.del(kSlots);
    CHECK(scene.renew(mine));
    CHECK(scene.server.pttl(kSlots) > 0);
    CHECK(scene.ask(mine).index() == 0);
    scene.server.del(kSlots);
    CHECK(scene.release(permits("b:1")).how == How::yes);
  }
  CHECK(scene.release(mine).how == How::yes);
  CHECK(scene.available() == "4");
  CHECK_FALSE(scene.server.has(kSlots));
}

TEST_CASE("the notes about slots live as long as the lease, and a month for permits without one") {
  Permitted scene;
  scene.ask(permits("a:1", {.total = 2}));
  CHECK(scene.server.pttl(kSlots) > 20000);
  CHECK(scene.server.pttl(kSlots) <= 30000);
  scene.ask(permits("b:1", {.total = 2, .lease = Milliseconds{0}}));
  CHECK(scene.server.pttl(kSlots) > 29 * 86400000LL);
}

TEST_CASE("a slot is free again after another client returned its permit") {
  Permitted scene;
  const auto first = std::get<Held>(scene.ask(permits("a:1", {.total = 2})));
  REQUIRE(is_held(scene.ask(permits("b:1", {.total = 2}))));
  scene.server.cli({"ZREM", "{pool}:timeout", first.permits.front()});  // as Redisson gives it back
  scene.server.cli({"INCR", "pool"});
  CHECK(scene.release(permits("a:1")).how == How::not_ours);
  CHECK(slots_of(scene.ask(permits("c:1", {.total = 2}))) == std::vector<std::int64_t>{0});
}

TEST_CASE("a permit of a Java client takes no slot, and both sides count and release each other's") {
  Permitted scene;
  scene.server.cli({"SET", "pool", "1"});
  scene.server.cli({"ZADD", "{pool}:timeout", "9999999999999", "0123456789abcdef"});
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.total = 2})));
  CHECK(held.slots == std::vector<std::int64_t>{0});
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  CHECK(pool.read_release(scene.redis.run(pool.release({"0123456789abcdef"}))).taken ==
        std::vector<bool>{true});
  CHECK(scene.available() == "1");
}

TEST_CASE("no two living permits of rlock ever have the same slot, and none lies beyond the pool") {
  constexpr std::int64_t kTotal = 6;
  Permitted scene;
  std::mt19937 chance{7};
  std::map<int, std::vector<std::int64_t>> held;
  for (int step = 0; step < 800; ++step) {
    const int owner = static_cast<int>(chance() % 8);
    const PermitLock who = permits("owner:" + std::to_string(owner), {.count = 2, .total = kTotal});
    if (held.contains(owner)) {
      scene.release(who);
      held.erase(owner);
    } else if (const AcquireAnswer answer = scene.ask(who); is_held(answer)) {
      held[owner] = slots_of(answer);
    }
    std::set<std::int64_t> all;
    for (const auto& [_, slots] : held) {
      for (const std::int64_t slot : slots) {
        REQUIRE(slot < kTotal);
        REQUIRE(all.insert(slot).second);
      }
    }
  }
}

TEST_CASE("only an id of rlock has a slot") {
  const auto id = [](std::string slot) { return "rk" + slot + "0123456789ab"; };
  CHECK(slot_in(id(std::string("\x00\x00", 2))) == 0);
  CHECK(slot_in(id("\x01\x02")) == 258);
  CHECK_FALSE(slot_in(id("\xff\xff")));  // the pool had no slot left
  CHECK_FALSE(slot_in("0123456789abcdef"));
  CHECK_FALSE(slot_in(id("\x01\x02") + "c"));
  CHECK_FALSE(slot_in("rk"));
}
