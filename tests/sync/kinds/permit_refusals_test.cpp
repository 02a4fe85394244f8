// Permits are refused where there is no pool of permits, or one of another size.

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "support/permit_scene.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

TEST_CASE("a pool of another size is refused, with both sizes and the remedy") {
  Permitted scene;
  scene.pool_of(3);
  const auto larger = std::get<Refused>(scene.ask(permits("a:1", {.total = 5})));
  CHECK(larger.why == Refused::Why::wrong_type);
  CHECK(
      larger.text ==
      "'pool' is a pool of 3 permits, not of 5; use --permits 3, or change the size of the pool: rlock permit set pool 5");
  scene.ask(permits("a:1", {.total = 3}));
  const auto smaller = std::get<Refused>(scene.ask(permits("b:1", {.total = 1})));
  CHECK(smaller.text.ends_with("rlock permit set pool 1"));
}

TEST_CASE("a pool of 0 permits is refused with a remedy that rlock accepts") {
  Permitted scene;
  scene.pool_of(3);
  scene.redis.run(Pool{kPool, PoolKind::permits, PubSub::classic}.resize(0));
  CHECK(std::get<Refused>(scene.ask(permits("a:1", {.total = 2}))).text ==
        "'pool' is a pool of 0 permits, not of 2; change its size: rlock permit set pool 2");
}

TEST_CASE("without a size no pool is made") {
  Permitted scene;
  const auto refused = std::get<Refused>(scene.ask(permits("a:1")));
  CHECK(refused.why == Refused::Why::absent);
  CHECK(refused.text == "there is no pool of permits 'pool'; to create it: rlock permit init pool N");
  CHECK(scene.all().empty());
}

TEST_CASE("a key that is no pool of permits is refused and left unchanged") {
  const Words others[] = {
      {"SET", "pool", "token"},
      {"SET", "pool", "99999999999999999999"},
      {"RPUSH", "pool", "a"},
      {"SADD", "pool", "a"},
      {"ZADD", "pool", "1", "a"},
      {"HSET", "pool", "a:1", "1"},
      {"HSET", "pool", "mode", "read", "a:1", "1"},
      {"XADD", "pool", "1-1", "a", "b"},
  };
  Permitted scene;
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    scene.server.del("pool");
    scene.server.cli(other);
    scene.server.cli({"ZADD", "{pool}:timeout", "1", "0123456789abcdef"});
    const std::string before = scene.all();

    const Pool pool{kPool, PoolKind::permits, PubSub::classic};
    CHECK(std::get<Refused>(scene.ask(permits("a:1", {.total = 3}))).why == Refused::Why::wrong_type);
    CHECK(std::get<Refused>(scene.ask(permits("a:1"))).why == Refused::Why::wrong_type);
    CHECK_FALSE(scene.renew(permits("a:1")));
    CHECK(scene.release(permits("a:1")).how == How::not_ours);
    CHECK(is_refused(scene.ask(permits("a:1", {.hold = Hold::inner}))));
    CHECK(pool.read(scene.redis.run(pool.init(3))).how == CounterAnswer::How::refused);
    CHECK(pool.read_count(scene.redis.run(pool.add(3))).how == CounterAnswer::How::refused);
    CHECK(pool.read(scene.redis.run(pool.remove())).how == CounterAnswer::How::refused);
    CHECK(std::holds_alternative<Refused>(pool.read_status(scene.redis.run(pool.status()))));
    CHECK(pool.read_release(scene.redis.run(pool.release({"0123456789abcdef"}))).taken ==
          std::vector<bool>{false});
    CHECK(scene.all() == before);
  }
}

TEST_CASE("permits are refused when no zset stands beside the pool") {
  Permitted scene;
  scene.server.cli({"SET", "pool", "3"});
  scene.server.cli({"SET", "{pool}:timeout", "x"});
  const std::string before = scene.all();
  CHECK(is_refused(scene.ask(permits("a:1", {.total = 3}))));
  CHECK(scene.release(permits("a:1")).how == How::not_ours);
  CHECK_FALSE(scene.renew(permits("a:1")));
  CHECK(scene.all() == before);
}
