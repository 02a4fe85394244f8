#include "sync/kinds/pool.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/permit_scene.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("a pool is created once, and only the repetition of that request hears that it was created") {
  Permitted scene;
  const Pool mine{kPool, PoolKind::permits, PubSub::classic};
  const auto [first, second] = scene.redis.twice(mine.init(3));
  CHECK(mine.read(first).how == CounterAnswer::How::done);
  CHECK(mine.read(second).how == CounterAnswer::How::done);
  const Pool other{kPool, PoolKind::permits, PubSub::classic};
  CHECK(other.read(scene.redis.run(other.init(5))).how == CounterAnswer::How::exists);
  CHECK(scene.available() == "3");
}

TEST_CASE("permits that are still taken from an earlier pool of the name are not available in the next") {
  Permitted scene;
  scene.ask(permits("a:1", {.count = 2, .total = 5}));
  const std::string ended = std::get<Held>(scene.ask(permits("b:1", {.total = 5}))).permits.front();
  scene.server.cli({"ZADD", "{pool}:timeout", "XX", "1", ended});
  scene.server.cli({"DEL", "pool"});
  scene.pool_of(5);
  CHECK(scene.available() == "3");
  CHECK(scene.taken() == "2");
}

TEST_CASE("permits are added, or taken out of the pool, once per request") {
  Permitted scene;
  const Pool nothing{kPool, PoolKind::permits, PubSub::classic};
  CHECK(nothing.read_count(scene.redis.run(nothing.add(1))).how == CounterAnswer::How::absent);
  CHECK(scene.all().empty());

  scene.pool_of(2);
  Listener waiter{scene.server, kPoolChannel};
  const Pool more{kPool, PoolKind::permits, PubSub::classic};
  const auto [first, second] = scene.redis.twice(more.add(3));
  CHECK(more.read_count(first).count == 5);
  CHECK(more.read_count(second).count == 5);
  CHECK(waiter.heard() == "5");
  const Pool fewer{kPool, PoolKind::permits, PubSub::classic};
  CHECK(fewer.read_count(scene.redis.run(fewer.add(-7))).count == -2);
  CHECK(waiter.silence());
  CHECK(is_busy(scene.ask(permits("a:1"))));
}

TEST_CASE("a pool changes its size once per request, and taken permits stay taken") {
  Permitted scene;
  const auto resize = [&](std::int64_t total) {
    const Pool pool{kPool, PoolKind::permits, PubSub::classic};
    const auto [first, second] = scene.redis.twice(pool.resize(total));
    CHECK(pool.read(first).how == CounterAnswer::How::done);
    CHECK(pool.read(second).how == CounterAnswer::How::done);
  };
  resize(3);  // there was no pool before
  CHECK(scene.available() == "3");
  const Held held = std::get<Held>(scene.ask(permits("a:1", {.count = 2})));
  Listener waiter{scene.server, kPoolChannel};
  resize(5);
  CHECK(scene.available() == "3");
  CHECK(waiter.heard() == "3");
  resize(1);
  CHECK(scene.available() == "-1");
  CHECK(scene.status()->total == 1);
  CHECK(waiter.silence());
  CHECK(is_busy(scene.ask(permits("b:1"))));
  scene.server.cli({"ZADD", "{pool}:timeout", "XX", "1", held.permits[0]});  // the permit's lease has ended
  resize(2);
  CHECK(scene.taken() == "1");
  CHECK(scene.available() == "1");
  CHECK(waiter.heard() == "1");
  CHECK(scene.release(permits("a:1", {.count = 2})).how == Released::How::yes);
  CHECK(scene.available() == "2");
}

TEST_CASE("a late copy of a request for another size changes nothing") {
  Permitted scene;
  const Pool first{kPool, PoolKind::permits, PubSub::classic};
  const Pool second{kPool, PoolKind::permits, PubSub::classic};
  scene.redis.run(first.resize(5));
  scene.redis.run(second.resize(2));
  scene.redis.run(first.resize(5));
  CHECK(scene.available() == "2");
}

TEST_CASE("another size leaves the TTL of a pool, and works although the server's memory is full") {
  Permitted scene;
  scene.pool_of(3);
  scene.server.cli({"PEXPIRE", "pool", "600000"});
  scene.server.cli({"CONFIG", "SET", "maxmemory", "1"});
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  CHECK(pool.read(scene.redis.run(pool.resize(1))).how == CounterAnswer::How::done);
  CHECK(scene.available() == "1");
  CHECK(std::stoll(scene.server.cli({"PTTL", "pool"})) > 0);
}

TEST_CASE("the status of a pool says how long one of its permits stays taken") {
  Permitted scene;
  const std::string leased = std::get<Held>(scene.ask(permits("a:1", {.total = 3}))).permits.front();
  const std::string endless =
      std::get<Held>(scene.ask(permits("b:1", {.total = 3, .lease = Milliseconds{0}}))).permits.front();
  const auto rest = [&](const std::string& id) {
    const Pool pool{kPool, PoolKind::permits, PubSub::classic};
    return std::get<0>(pool.read_status(scene.redis.run(pool.status(id))))->rest;
  };
  CHECK(rest(endless) == Milliseconds{-1});
  CHECK(rest(leased) > Milliseconds{20000});
  CHECK(rest(leased) <= Milliseconds{30000});
  scene.server.cli({"ZADD", "{pool}:timeout", "XX", "1", leased});
  CHECK_FALSE(rest(leased));
  CHECK_FALSE(rest("0123456789abcdef"));
}

TEST_CASE(
    "permits are released and renewed by their ids, and the answer tells for each whether it was still taken") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.count = 2, .total = 2})));
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  const std::vector<std::string> ids{held.permits[0], "0123456789abcdef", held.permits[1]};
  CHECK(pool.read_renewal(scene.redis.run(pool.renew(ids, Milliseconds{60000}))) ==
        std::vector<bool>{true, false, true});
  CHECK(pool.read_release(scene.redis.run(pool.release(ids))).taken == std::vector<bool>{true, false, true});
  const Pool later{kPool, PoolKind::permits, PubSub::classic};
  CHECK(later.read_release(scene.redis.run(later.release(ids))).taken ==
        std::vector<bool>{false, false, false});
  CHECK(scene.available() == "2");
}

TEST_CASE("a release by ids that is sent twice gets the same answer, and releases nothing again") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.count = 2, .total = 2})));
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  const Call release = pool.release({held.permits[0], "0123456789abcdef", held.permits[1]});
  const auto [first, second] = scene.redis.twice(release);
  CHECK(pool.read_release(first).taken == std::vector<bool>{true, false, true});
  CHECK(pool.read_release(second).taken == std::vector<bool>{true, false, true});
  CHECK(scene.available() == "2");
}

TEST_CASE("a release by a permit's id also frees expired permits") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.count = 3, .total = 3})));
  scene.server.cli({"ZADD", "{pool}:timeout", "XX", "1", held.permits[0]});
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  CHECK(pool.read_release(scene.redis.run(pool.release({held.permits[1]}))).taken == std::vector<bool>{true});
  CHECK(scene.available() == "2");
  CHECK(scene.taken() == "1");
}

TEST_CASE("a release by a permit's id tells the waiters, or says why it could not") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.count = 3, .total = 3})));
  const auto release = [&](const std::string& id) {
    const Pool pool{kPool, PoolKind::permits, PubSub::classic};
    return pool.read_release(scene.redis.run(pool.release({id}))).unannounced;
  };
  Listener waiter{scene.server, kPoolChannel};
  CHECK(release(held.permits[0]).empty());
  CHECK(waiter.heard() == "1");

  scene.become("mute", {"~*", "+@all", "resetchannels"});
  CHECK(contains(release(held.permits[1]), "channel"));
  CHECK(waiter.silence());
  CHECK(scene.available() == "2");
}

TEST_CASE("a permit that is renewed by its id lasts as long as was asked") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.total = 3, .lease = Milliseconds{5000}})));
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  scene.redis.run(pool.renew(held.permits, Milliseconds{600000}));
  const double ends = std::stod(scene.server.cli({"ZSCORE", "{pool}:timeout", held.permits.front()}));
  CHECK(ends - static_cast<double>(held.server_time.time_since_epoch().count()) >= 600000);
}

TEST_CASE("permits are renewed and released by their ids although the server's memory is full") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.total = 3})));
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  scene.server.cli({"CONFIG", "SET", "maxmemory", "1"});
  CHECK(pool.read_renewal(scene.redis.run(pool.renew(held.permits, Milliseconds{60000}))) ==
        std::vector<bool>{true});
  CHECK(pool.read_release(scene.redis.run(pool.release(held.permits))).taken == std::vector<bool>{true});
  CHECK(scene.available() == "3");
}

TEST_CASE("the status of a pool counts ended leases as available, and changes nothing") {
  Permitted scene;
  CHECK_FALSE(scene.status());
  scene.ask(permits("a:1", {.total = 3, .lease = Milliseconds{1500}}));
  scene.ask(permits("b:1", {.total = 3}));
  REQUIRE(eventually([&] { return scene.status()->available == 2; }));
  CHECK(scene.status()->total == 3);
  CHECK(scene.available() == "1");
}

TEST_CASE("a deleted pool takes its permits along, once") {
  Permitted scene;
  scene.ask(permits("a:1", {.total = 3}));
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  const auto [first, second] = scene.redis.twice(pool.remove());
  CHECK(pool.read(first).how == CounterAnswer::How::done);
  CHECK(pool.read(second).how == CounterAnswer::How::done);
  CHECK_FALSE(scene.server.has("pool"));
  CHECK_FALSE(scene.server.has("{pool}:timeout"));
  const Pool again{kPool, PoolKind::permits, PubSub::classic};
  CHECK(again.read(scene.redis.run(again.remove())).how == CounterAnswer::How::absent);
}

TEST_CASE("without rights to publish permits still become available, and the reason is reported") {
  Permitted scene;
  scene.ask(permits("a:1", {.count = 3, .total = 3}));
  const auto add = [&] {
    const Pool pool{kPool, PoolKind::permits, PubSub::classic};
    return pool.read_count(scene.redis.run(pool.add(1)));
  };

  scene.become("mute", {"~*", "+@all", "resetchannels"});
  CHECK(contains(add().unannounced, "channel"));
  scene.become("half", {"~*", "+@all", "resetchannels", "&" + kPoolChannel.str()});
  CHECK(add().unannounced.empty());

  // The permits are announced, but a waiter in the line cannot be told that they are enough.
  const Claim waiting{
      .name = kPool, .owner = Owner{"b:1"}, .lease = Milliseconds{30000}, .if_busy = IfBusy::place};
  REQUIRE(is_busy(scene.ask(PermitLock{waiting, {.count = 3}})));
  CHECK(contains(add().unannounced, "channel"));
  CHECK(scene.available() == "3");
}

TEST_CASE("an unknown word is no answer to a call about a pool") {
  const Pool pool{kPool, PoolKind::permits, PubSub::classic};
  const Reply unknown{std::vector{Reply{"hm"}}};
  CHECK_THROWS_AS(pool.read(unknown), Error);
  CHECK_THROWS_AS(pool.read_status(unknown), Error);
}

TEST_CASE("an answer without the count does not mean that no permit was drained") {
  const Pool pool{kPool, PoolKind::semaphore, PubSub::classic};
  CHECK_THROWS_AS(pool.read_count(Reply{std::vector{Reply{"done"}}}), Error);
  CHECK_THROWS_AS(pool.read_count(Reply{std::vector{Reply{"done"}, Reply{""}}}), Error);
}
