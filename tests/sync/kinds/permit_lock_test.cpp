// A lock that holds some permits of a pool. Redisson's clients may hold the others.

#include "sync/kinds/permit_lock.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/figures.h"
#include "support/permit_scene.h"
#include "support/redis_server.h"
#include "sync/calls/keys.h"
#include "sync/records/metadata.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

namespace {

/// The server's time for a call, in microseconds: the median of 15 runs.
std::int64_t server_time(Permitted& scene, const Call& call) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 15; ++i) {
    scene.server.cli({"CONFIG", "RESETSTAT"});
    REQUIRE_FALSE(scene.redis.run(call).is_error());
    const std::string stats = scene.server.cli({"INFO", "commandstats"});
    const std::size_t at = stats.find("usec=", stats.find("cmdstat_eval"));
    times.push_back(std::stoll(stats.substr(at + 5)));
  }
  return median(times);
}

}  // namespace

TEST_CASE("permits are taken from Redisson's number and written down with the end of their lease") {
  Permitted scene;
  const AcquireAnswer answer = scene.ask(permits("a:1", {.count = 2, .total = 3}));
  REQUIRE(is_held(answer));
  CHECK(scene.available() == "1");
  CHECK(scene.taken() == "2");
  for (const std::string& id : std::get<Held>(answer).permits) CHECK(id.size() == 16);
  const std::string score = scene.server.cli({"ZSCORE", "{pool}:timeout", std::get<Held>(answer).permits[0]});
  CHECK(std::stoll(score) == std::get<Held>(answer).server_time.time_since_epoch().count() + 30000);
  CHECK(permits("a:1").channels() == std::vector{kPoolChannel});
}

TEST_CASE("a renewal of permits names only keys that exist, so it works while their slot moves") {
  Permitted scene;
  const PermitLock ours = permits("a:1", {.count = 2, .total = 3});
  REQUIRE(is_held(scene.ask(ours)));
  for (const std::string& key : ours.renew().keys) CHECK(scene.server.cli({"EXISTS", key}) == "1");
}

TEST_CASE("a client that lacks the right to one command leaves the pool as large as it is") {
  for (const std::string command : {"pexpire", "decrby", "zadd", "zcount", "set"}) {
    CAPTURE(command);
    Permitted scene;
    scene.server.cli({"SET", "pool", "3"});
    scene.server.cli({"ACL", "SETUSER", "default", "-" + command});
    scene.ask(permits("a:1", {.count = 2, .total = 3}));
    CHECK(std::stoll(scene.available()) + std::stoll(scene.taken()) == 3);
    CHECK((!scene.server.has(kSlots) || scene.server.pttl(kSlots) > 0));
    scene.server.cli({"ACL", "SETUSER", "default", "+@all"});
    const AcquireAnswer next = scene.ask(permits("b:1", {.count = 2, .total = 3}));
    if (!is_held(next)) continue;
    for (const std::int64_t slot : slots_of(next)) CHECK(slot < 3);
  }
}

TEST_CASE("a client that may not give a permit back takes none") {
  Permitted scene;
  scene.server.cli({"ACL", "SETUSER", "default", "-zrem"});
  CHECK_FALSE(is_held(scene.ask(permits("a:1", {.total = 3}))));
  CHECK(scene.taken() == "0");
}

TEST_CASE("a client that lacks the right to one command gives no permit back twice, and loses none") {
  for (const std::string command : {"zremrangebyscore", "incrby", "zrem"}) {
    CAPTURE(command);
    Permitted scene;
    const AcquireAnswer held = scene.ask(permits("b:1", {.count = 1, .total = 3}));
    REQUIRE(is_held(held));
    const auto without_the_right = [&](const Call& call) {
      scene.server.cli({"ACL", "SETUSER", "default", "-" + command});
      scene.redis.run(call);
      scene.server.cli({"ACL", "SETUSER", "default", "+@all"});
    };
    const Call release =
        Pool{kPool, PoolKind::permits, PubSub::classic}.release(std::get<Held>(held).permits);
    without_the_right(release);
    REQUIRE(is_held(scene.ask(permits("a:1", {.count = 1, .total = 3, .lease = Milliseconds{1}}))));
    const Words ask_ended{"EVAL", "return redis.call('zcount', KEYS[1], 0, redis.call('time')[1] * 1000)",
                          "1", "{pool}:timeout"};
    REQUIRE(eventually([&] { return scene.server.cli(ask_ended) == "1"; }));
    for (int times = 0; times < 3; ++times) {
      without_the_right(permits("c:1", {.count = 1, .total = 3}).ask());
      without_the_right(release);
    }
    CHECK(std::stoll(scene.available()) + std::stoll(scene.taken()) == 3);
  }
}

TEST_CASE("returned permits make the pool whole and wake waiters, with a number") {
  Permitted scene;
  Listener waiter{scene.server, kPoolChannel};
  scene.ask(permits("a:1", {.count = 2, .total = 3}));
  CHECK(waiter.heard() == "1");
  CHECK(scene.release(permits("a:1", {.count = 2})).how == How::yes);
  CHECK(waiter.heard() == "3");
  CHECK(scene.available() == "3");
  CHECK(scene.taken() == "0");
}

TEST_CASE("without rights to publish a release still returns permits, and says why no waiter was told") {
  Permitted scene;
  scene.ask(permits("a:1", {.total = 1}));
  scene.become("mute", {"~*", "+@all", "resetchannels"});

  const Released released = scene.release(permits("a:1"));
  CHECK(released.how == How::yes);
  CHECK(contains(released.unannounced, "channel"));
  CHECK(scene.available() == "1");
}

TEST_CASE("an acquire that finds too few permits learns when the first lease ends") {
  Permitted scene;
  const StopWatch since;
  scene.ask(permits("a:1", {.count = 2, .total = 2, .lease = Milliseconds{5000}}));
  const AcquireAnswer busy = scene.ask(permits("b:1", {.total = 2}));
  REQUIRE(is_busy(busy));
  CHECK(*std::get<Busy>(busy).retry_after + since.elapsed() >=
        Milliseconds{4990});  // not 5000, because each of the two clocks is rounded
  CHECK(std::get<Busy>(busy).retry_after <= Milliseconds{5000});
  CHECK(scene.available() == "0");
}

TEST_CASE("permits without a lease are reported as never coming back by themselves") {
  Permitted scene;
  scene.server.cli({"SET", "pool", "0"});
  scene.server.cli({"ZADD", "{pool}:timeout", "922337203685477", "sixteen bytes id"});
  CHECK(std::get<Busy>(scene.ask(permits("a:1"))).no_ttl);
  scene.server.del("{pool}:timeout");
  const auto busy = std::get<Busy>(scene.ask(permits("a:1")));
  CHECK_FALSE(busy.no_ttl);
  CHECK_FALSE(busy.retry_after);
}

TEST_CASE("a permit without a lease has Redisson's end for that, and no copy of a call shortens it") {
  Permitted scene;
  const PermitLock endless = permits("a:1", {.total = 2, .lease = Milliseconds{0}});
  const std::string id = std::get<Held>(scene.ask(endless)).permits.front();
  const auto end = [&] { return scene.server.cli({"ZSCORE", "{pool}:timeout", id}); };
  CHECK(end() == "922337203685477");
  scene.ask(permits("a:1", {.total = 2}));
  CHECK(scene.renew(permits("a:1")));
  CHECK(end() == "922337203685477");
  scene.ask(permits("b:1", {.total = 2, .lease = Milliseconds{0}}));
  CHECK(std::get<Busy>(scene.ask(permits("c:1", {.total = 2}))).no_ttl);
  CHECK(scene.release(permits("b:1")).how == How::yes);

  const Pool by_id{kPool, PoolKind::permits, PubSub::classic};
  by_id.read_renewal(scene.redis.run(by_id.renew({id}, Milliseconds{60000})));
  CHECK(std::stoll(end()) < 922337203685477);
  by_id.read_renewal(scene.redis.run(by_id.renew({id}, Milliseconds{0})));
  CHECK(end() == "922337203685477");
}

TEST_CASE("a late copy takes no permit without a lease when the first was given back by its id") {
  Permitted scene;
  const PermitLock endless{
      {.name = kPool, .owner = Owner{"a:1"}, .lease = Milliseconds{0}, .owner_returns = true}, {.total = 2}};
  const Call acquire = endless.ask();
  const Held held = std::get<Held>(endless.read(scene.redis.run(acquire)));
  CHECK(scene.redis.run(command({"EXISTS", shares_key(kPool, "a:1")})).integer() == 0);
  const Pool by_id{kPool, PoolKind::permits, PubSub::classic};
  scene.redis.run(by_id.release(held.permits));
  CHECK_FALSE(is_held(endless.read(scene.redis.run(acquire))));
  CHECK(scene.taken() == "0");
  CHECK(scene.available() == "2");
}

TEST_CASE("an acquire of permits that is sent twice takes them once, with the same ids") {
  Permitted scene;
  const PermitLock wanted = permits("a:1", {.count = 3, .total = 5});
  const auto [first, second] = scene.redis.twice(wanted.ask());
  CHECK(std::get<Held>(wanted.read(first)).permits == std::get<Held>(wanted.read(second)).permits);
  CHECK(scene.available() == "2");
}

TEST_CASE("the release of permits that is sent twice gives them back once") {
  Permitted scene;
  scene.ask(permits("a:1", {.count = 2, .total = 3}));
  const auto [first, second] = scene.redis.twice(permits("a:1", {.count = 2}).release({}));
  CHECK(written(first) == "['released', '']");
  CHECK(written(second) == "['not_ours']");
  CHECK(scene.available() == "3");
}

TEST_CASE("permits of a dead holder come back with the end of their lease, and their slots with them") {
  Permitted scene;
  scene.ask(permits("dead:1", {.count = 2, .total = 2, .lease = Milliseconds{50}}));
  REQUIRE(eventually([&] { return is_held(scene.ask(permits("b:1", {.count = 2, .total = 2}))); }));
  CHECK(scene.available() == "0");
  CHECK(scene.taken() == "2");
  CHECK(slots_of(scene.ask(permits("b:1", {.count = 2, .total = 2}))) == std::vector<std::int64_t>{0, 1});
  CHECK(scene.release(permits("dead:1", {.count = 2})).how == How::not_ours);
  CHECK(scene.available() == "0");
}

TEST_CASE("an ended lease is not renewed, and cannot be released twice") {
  Permitted scene;
  const PermitLock ended = permits("a:1", {.total = 2});
  const Held held = std::get<Held>(scene.ask(ended));
  CHECK(scene.renew(ended));
  scene.server.cli({"ZADD", "{pool}:timeout", "XX", "1", held.permits.front()});  // its lease ended long ago
  CHECK(scene.status()->available == 2);
  CHECK_FALSE(scene.renew(ended));
  CHECK(scene.release(ended).how == How::not_ours);
  CHECK(scene.available() == "2");
}

TEST_CASE("a renewal extends every permit of its owner, and no other") {
  Permitted scene;
  const PermitLock mine = permits("a:1", {.count = 2, .total = 3, .lease = Milliseconds{60000}});
  scene.ask(permits("a:1", {.count = 2, .total = 3}));
  scene.ask(permits("b:1", {.total = 3, .lease = Milliseconds{5000}}));
  CHECK(scene.renew(mine));
  CHECK(std::stoll(scene.server.cli({"ZCOUNT", "{pool}:timeout", "-inf", "+inf"})) == 3);
  const auto lease_of = [&](const char* index) {
    const std::string entry = scene.server.cli({"ZRANGE", "{pool}:timeout", index, index, "WITHSCORES"});
    return std::stoll(entry.substr(entry.rfind('\n') + 1));
  };
  CHECK(lease_of("1") == lease_of("2"));
  CHECK(lease_of("1") - lease_of("0") > 50000);
}

TEST_CASE("a renewal fails when the pool was deleted or one of the permits taken away") {
  Permitted scene;
  const PermitLock mine = permits("a:1", {.count = 2, .total = 3});
  const auto held = std::get<Held>(scene.ask(mine));
  scene.redis.run(Pool{kPool, PoolKind::permits, PubSub::classic}.release({held.permits[1]}));
  CHECK_FALSE(scene.renew(mine));
  scene.release(mine);
  scene.ask(mine);
  scene.server.del("pool");
  CHECK_FALSE(scene.renew(mine));
}

TEST_CASE("taking, renewing and releasing cost the same however many permits are taken") {
  Permitted scene;
  scene.pool_of(9990);
  const PermitLock mine = permits("me:1");
  REQUIRE(is_held(scene.ask(mine)));
  const std::vector<Call> calls{mine.ask(), mine.renew()};
  std::vector<std::int64_t> before;
  for (const Call& call : calls) before.push_back(server_time(scene, call));
  for (int i = 0; i < 98; ++i) scene.ask(permits("crowd:" + std::to_string(i), {.count = 100}));
  REQUIRE(scene.taken() == "9801");
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    CHECK(server_time(scene, calls[i]) <= 3 * before[i] + 100);
  }
  CHECK(server_time(scene, permits("none:1").release({})) <= 3 * before[1] + 100);
}

TEST_CASE("a pool that is made anew counts the permits that outlived the old one") {
  Permitted scene;
  scene.ask(permits("a:1", {.total = 3}));
  scene.server.del("pool");
  CHECK(slots_of(scene.ask(permits("b:1", {.total = 3}))) == std::vector<std::int64_t>{1});
  CHECK(scene.available() == "1");
}

TEST_CASE("an acquire after expired leases announces the returned permits, and keeps the ones it takes") {
  Permitted scene;
  const auto take_and_end = [&](const std::string& owner, std::int64_t count) {
    const AcquireAnswer taken = scene.ask(permits(owner, {.count = count, .total = 3}));
    for (const std::string& id : std::get<Held>(taken).permits)
      scene.server.cli({"ZADD", "{pool}:timeout", "XX", "1", id});  // its lease ended long ago
  };
  take_and_end("a:1", 2);
  Listener waiter{scene.server, kPoolChannel};

  take_and_end("b:1", 1);
  CHECK(waiter.heard() == "2");
  CHECK(is_refused(scene.ask(permits("c:1", {.count = 4}))));
  CHECK(waiter.heard() == "3");
  take_and_end("d:1", 1);
  REQUIRE(is_held(scene.ask(permits("e:1", {.total = 3}))));
  CHECK(waiter.heard() == "2");
  take_and_end("f:1", 1);
  CHECK(is_busy(scene.ask(permits("g:1", {.count = 3, .total = 3}))));
  CHECK(waiter.heard() == "2");
  CHECK(waiter.silence());
}

TEST_CASE("an acquire that is refused announces the permits of ended leases, too") {
  Permitted scene;
  scene.server.cli({"SET", "pool", "0"});
  scene.server.cli({"ZADD", "{pool}:timeout", "1", "ended", "9999999999999", "taken"});
  Listener hears{scene.server, kPoolChannel};

  SUBCASE("the pool has another size") {
    CHECK(is_refused(scene.ask(permits("a:1", {.total = 3}))));
    CHECK(hears.heard() == "1");
  }
  SUBCASE("too many permits are taken") {
    scene.server.cli({"EVAL", "for i = 1, 9999 do redis.call('zadd', KEYS[1], 9999999999999, i) end", "1",
                      "{pool}:timeout"});
    CHECK(is_refused(scene.ask(permits("a:1"))));
    CHECK(hears.heard() == "1");
  }
  CHECK(hears.silence());
}

TEST_CASE("a release that keeps its permits announces those of ended leases, too") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.total = 2})));
  scene.ask(permits("b:1"));
  const PermitLock waiting{
      {.name = kPool, .owner = Owner{"w:1"}, .lease = Milliseconds{30000}, .if_busy = IfBusy::place},
      {.count = 1}};
  REQUIRE(is_busy(scene.ask(waiting)));
  const std::string ended = scene.server.cli({"ZRANGE", "{pool}:timeout", "-1", "-1"});
  scene.server.cli({"ZADD", "{pool}:timeout", "XX", "1", ended});
  Listener hears{scene.server, kPoolChannel}, waiter{scene.server, Channel{kPoolChannel.str() + ":w:1"}};

  SUBCASE("--min-hold keeps them") {
    const ServerTime in_a_minute = held.server_time + Milliseconds{60000};
    CHECK(scene.release(permits("a:1"), {.keep_until = in_a_minute}).how == How::kept);
  }
  SUBCASE("the outer hold keeps them") {
    const PermitLock inner = permits("a:1", {.hold = Hold::inner});
    REQUIRE(is_held(scene.ask(inner)));
    CHECK(scene.release(inner).how == How::still_held);
  }
  SUBCASE("there are none") { CHECK(scene.release(permits("c:1")).how == How::not_ours); }
  CHECK(hears.heard() == "1");
  CHECK(waiter.heard() == "0");
}

TEST_CASE("--min-hold keeps the permits") {
  Permitted scene;
  const auto held = std::get<Held>(scene.ask(permits("a:1", {.total = 1})));
  const Released kept = scene.release(permits("a:1"), {.keep_until = held.server_time + Milliseconds{60000}});
  CHECK(kept.how == How::kept);
  CHECK(kept.rest > Milliseconds{59000});
  CHECK(is_busy(scene.ask(permits("b:1", {.total = 1}))));
}

TEST_CASE("metadata of a holder of permits are written under its owner") {
  Permitted scene;
  const PermitLock mine = permits("a:1", {.total = 1});
  scene.ask(mine);
  scene.redis.run(
      write_metadata(kPool, mine.owner(), mine.hold_entry(), Milliseconds{30000}, about_us("make")));
  CHECK(scene.server.cli({"HKEYS", "rlock:meta:{pool}"}) == "a:1");
  scene.release(mine);
  scene.server.del("rlock:meta:{pool}");
  scene.redis.run(
      write_metadata(kPool, mine.owner(), mine.hold_entry(), Milliseconds{30000}, about_us("make")));
  CHECK_FALSE(scene.server.has("rlock:meta:{pool}"));
}

TEST_CASE("permits are conserved in any order and repetition of calls") {
  constexpr std::int64_t kTotal = 5;
  Permitted scene;
  std::mt19937 chance{42};
  const auto pick = [&](int bound) { return static_cast<int>(chance() % static_cast<unsigned>(bound)); };
  scene.pool_of(kTotal);

  for (int step = 0; step < 1500; ++step) {
    const PermitLock who =
        permits("owner:" + std::to_string(pick(6)),
                {.count = 1 + pick(2), .total = kTotal, .lease = Milliseconds{pick(4) == 0 ? 1 : 60000}});
    const Call call =
        std::array{who.ask(), who.ask(), who.renew(), who.release({})}[static_cast<std::size_t>(pick(4))];
    for (int copies = 1 + pick(2); copies > 0; --copies) REQUIRE_FALSE(scene.redis.run(call).is_error());

    const std::int64_t available = std::stoll(scene.available());
    REQUIRE(available >= 0);
    REQUIRE(available + std::stoll(scene.taken()) == kTotal);
  }
  for (int owner = 0; owner < 6; ++owner)
    scene.release(permits("owner:" + std::to_string(owner), {.count = 2}));
  CHECK(scene.available() == std::to_string(kTotal));
}
