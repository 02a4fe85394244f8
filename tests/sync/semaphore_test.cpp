#include "sync/semaphore.h"

#include <doctest/doctest.h>

#include <random>

#include "base/text.h"
#include "support/scene.h"
#include "sync/pool.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const LockName kSem{"sem"};
const Channel kChannel{"redisson_sc:{sem}"};

Semaphore take(std::int64_t count) { return Semaphore{kSem, count, PubSub::classic}; }
Pool pool() { return Pool{kSem, PoolKind::semaphore, PubSub::classic}; }

struct Counted : Scene {
  std::string available() { return server.cli({"GET", "sem"}); }
  PoolAnswer init(std::int64_t total) {
    const Pool one = pool();
    return one.read_init(redis.run(one.init(total)));
  }
  PoolAnswer add(std::int64_t count) {
    const Pool one = pool();
    return one.read_add(redis.run(one.add(count)));
  }
};

}  // namespace

TEST_CASE("a semaphore is a number, and its releases are announced with what is available") {
  Counted scene;
  Listener waiter{scene.server, kChannel};
  CHECK(scene.init(2).how == PoolAnswer::How::done);
  CHECK(waiter.heard() == "2");
  CHECK(scene.server.cli({"GET", "sem"}) == "2");
  CHECK(is_held(scene.ask(take(2))));
  CHECK(scene.available() == "0");
  CHECK(is_busy(scene.ask(take(1))));
  CHECK(scene.add(1).count == 1);
  CHECK(waiter.heard() == "1");
}

TEST_CASE("permits of a semaphore are all taken or none") {
  Counted scene;
  scene.init(2);
  CHECK(is_busy(scene.ask(take(3))));
  CHECK(scene.available() == "2");
}

TEST_CASE("nothing that is no positive number is ever published") {
  Counted scene;
  Listener waiter{scene.server, kChannel};
  scene.server.cli({"SET", "sem", "-3"});
  scene.add(2);
  scene.add(-1);
  scene.add(2);
  CHECK(waiter.silence());
  scene.add(1);
  CHECK(waiter.heard() == "1");
}

TEST_CASE("a semaphore acquire that is sent twice takes once, as often as it is asked") {
  Counted scene;
  scene.init(5);
  const Semaphore request = take(2);
  for (int copy = 0; copy < 3; ++copy) CHECK(is_held(scene.ask(request)));
  CHECK(scene.available() == "3");
}

TEST_CASE("an acquire that is undone gives back what it took, once, and a late copy takes nothing") {
  Counted scene;
  scene.init(5);
  const Semaphore came_through = take(2);
  scene.ask(came_through);
  Listener waiter{scene.server, kChannel};
  scene.undo(came_through);
  scene.undo(came_through);
  CHECK(waiter.heard() == "5");
  CHECK(waiter.silence());
  CHECK(scene.available() == "5");
  CHECK(is_busy(scene.ask(came_through)));
  const Semaphore came_late = take(2);
  scene.undo(came_late);
  CHECK(is_busy(scene.ask(came_late)));
  CHECK(scene.available() == "5");
}

TEST_CASE("every operation on a semaphore may be sent twice") {
  Counted scene;
  const Pool made = pool();
  const Pool added = pool();
  const Pool drained = pool();
  const Pool removed = pool();
  const auto same = [&](const Call& call) {
    const auto [first, second] = scene.redis.twice(call);
    return written(first) == written(second);
  };
  CHECK(same(made.init(3)));
  CHECK(same(added.add(2)));
  CHECK(scene.available() == "5");
  CHECK(written(scene.redis.run(drained.drain())) == "['done', 5]");
  scene.add(4);
  CHECK(written(scene.redis.run(drained.drain())) == "['done', 5]");
  CHECK(scene.available() == "4");
  CHECK(same(removed.remove()));
  CHECK(!scene.server.has("sem"));
}

TEST_CASE("releasing, draining, taking and deleting make no semaphore") {
  Counted scene;
  CHECK(scene.add(1).how == PoolAnswer::How::absent);
  CHECK(pool().read_drain(scene.redis.run(pool().drain())).how == PoolAnswer::How::absent);
  CHECK(pool().read_remove(scene.redis.run(pool().remove())).how == PoolAnswer::How::absent);
  const auto refused = std::get<Refused>(scene.ask(take(1)));
  CHECK(refused.why == Refused::Why::absent);
  CHECK(refused.text == "there is no semaphore 'sem'; make it: rlock sem init sem N");
  CHECK(!std::get<0>(pool().read_status(scene.redis.run(pool().status()))));
  CHECK(scene.all().empty());
}

TEST_CASE("a semaphore that exists is not made again") {
  Counted scene;
  scene.init(2);
  CHECK(scene.init(5).how == PoolAnswer::How::exists);
  CHECK(scene.available() == "2");
}

TEST_CASE("adding and draining leave the TTL of a semaphore") {
  Counted scene;
  scene.server.cli({"SET", "sem", "3", "PX", "60000"});
  scene.add(1);
  scene.redis.run(pool().drain());
  CHECK(scene.available() == "0");
  CHECK(scene.server.pttl("sem") > 50000);
}

TEST_CASE("what is no semaphore is refused and left as it was") {
  const Words others[] = {
      {"SET", "sem", "token"},
      {"SET", "sem", "1.5"},
      {"SET", "sem", "9223372036854775807"},
      {"RPUSH", "sem", "a"},
      {"SADD", "sem", "a"},
      {"ZADD", "sem", "1", "a"},
      {"HSET", "sem", "a:1", "1"},
      {"HSET", "sem", "mode", "read", "a:1", "1"},
  };
  Counted scene;
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    scene.server.cli({"FLUSHALL"});
    scene.server.cli(other);
    const std::string before = scene.all();

    const Semaphore request = take(1);
    CHECK(std::get<Refused>(scene.ask(request)).why == Refused::Why::wrong_type);
    CHECK(scene.init(3).how == PoolAnswer::How::refused);
    CHECK(scene.add(1).how == PoolAnswer::How::refused);
    CHECK(pool().read_drain(scene.redis.run(pool().drain())).how == PoolAnswer::How::refused);
    CHECK(pool().read_remove(scene.redis.run(pool().remove())).how == PoolAnswer::How::refused);
    CHECK(std::holds_alternative<Refused>(pool().read_status(scene.redis.run(pool().status()))));
    CHECK(scene.all() == before);
    scene.undo(request);
    CHECK(contents(scene.redis, "sem") == before);
  }
}

TEST_CASE("permits of a semaphore are conserved, whatever is repeated and undone") {
  constexpr std::int64_t kTotal = 7;
  Counted scene;
  scene.init(kTotal);
  std::mt19937 chance{42};
  const auto pick = [&](unsigned bound) { return static_cast<std::int64_t>(chance() % bound); };
  std::int64_t taken = 0;
  for (int step = 0; step < 1000; ++step) {
    const std::int64_t count = 1 + pick(3);
    const Semaphore request = take(count);
    bool held = false;
    for (std::int64_t copies = 1 + pick(2); copies > 0; --copies) held = is_held(scene.ask(request));
    if (held && pick(2) == 0) {
      for (std::int64_t copies = 1 + pick(2); copies > 0; --copies) scene.undo(request);
    } else if (held) {
      taken += count;
    }
    if (taken > 0 && pick(2) == 0) {
      const Pool release = pool();
      const Call call = release.add(1);
      for (std::int64_t copies = 1 + pick(2); copies > 0; --copies) scene.redis.run(call);
      --taken;
    }
    REQUIRE(std::stoll(scene.available()) + taken == kTotal);
  }
}
