#include "redis/route/sentinel.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "redis/executor/executor.h"
#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/forked.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"
#include "support/sockets.h"
#include "support/test_calls.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

constexpr auto kTcp = FakeRedis::Transport::tcp;

/// After a pause of this length, the last answer of the Sentinels is not believed any more.
constexpr Milliseconds kPause{600};

std::string named(std::uint16_t port) {
  return wire::array({wire::text("127.0.0.1"), wire::text(std::to_string(port))});
}

const std::string kPrimary = wire::array({wire::text("master"), wire::integer(0), wire::array({})});
const std::string kReplica = wire::array({wire::text("slave"), wire::text("127.0.0.1"), wire::integer(1),
                                          wire::text("connected"), wire::integer(0)});

/// Sentinels with scripted answers, and an executor that asks them.
struct SentinelFixture {
  explicit SentinelFixture(const std::vector<std::uint16_t>& sentinels, bool retry_first_contact = false,
                           const std::string& user = {},
                           const Timeouts& timeouts = {.connect = Milliseconds{600},
                                                       .command = Milliseconds{500}}) {
    std::string hosts;
    for (const auto port : sentinels)
      hosts += (hosts.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(port));
    const Target target = parse_target("redis+sentinel://" + user + hosts + "/mymaster");
    redis.emplace(loop, std::vector<Target>{target},
                  Executor::Options{.timeouts = timeouts, .retry_first_contact = retry_first_contact});
  }
  Vote vote(Milliseconds patience = Milliseconds{3000}) {
    return redis->run_all(kCall, with_retries(), within(patience)).front();
  }

  Loop loop;
  std::optional<Executor> redis;
};

/// A Sentinel that names `old_primary`, which has granted a call, and another server that could be the primary.
struct Failover {
  Failover() {
    sentinel.on("SENTINEL", named(old_primary.port()));
    for (FakeRedis* one : {&old_primary, &new_primary}) {
      one->on("ROLE", kPrimary);
      one->on("EVALSHA", wire::integer(1));
    }
    REQUIRE(f.vote().good_reply() != nullptr);
  }

  FakeRedis sentinel{kTcp}, old_primary{kTcp}, new_primary{kTcp};
  SentinelFixture f{{sentinel.port()}};
};

}  // namespace

TEST_CASE("the primary that a Sentinel names gets the call after it has confirmed its role") {
  FakeRedis sentinel{kTcp}, primary{kTcp};
  sentinel.on("SENTINEL", named(primary.port()));
  primary.on("ROLE", kPrimary);
  primary.on("EVALSHA", wire::integer(1));
  SentinelFixture f{{sentinel.port()}};

  CHECK(f.vote().good_reply() != nullptr);
  CHECK(sentinel.log().back() == Words{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"});
  CHECK(primary.log().at(1) == Words{"ROLE"});
  CHECK(f.vote().good_reply() != nullptr);
  CHECK(sentinel.count("SENTINEL") == 1);
  CHECK(primary.connections() == 1);
  CHECK(wake_ups(f.loop, Milliseconds{100}) <= 2);
}

TEST_CASE(
    "if the primary turns out to be no Redis server, the next call is told, too, that waiting mends nothing") {
  Failover failover;
  failover.old_primary.on("EVALSHA", "HTTP/1.1 400 Bad Request\r\n\r\n");
  for (const std::string call : {"first", "next"}) {
    CAPTURE(call);
    const Vote vote = failover.f.redis->run_all(kCall, {}, within(Milliseconds{3000})).front();
    REQUIRE(vote.failure());
    CHECK_MESSAGE(vote.failure()->lasts, vote.failure()->text);
  }
}

TEST_CASE("a call that waits for a Sentinel's answer does not wake the loop before it comes") {
  FakeRedis sentinel{kTcp}, primary{kTcp};
  primary.on("ROLE", kPrimary);
  primary.on("EVALSHA", wire::integer(1));
  SentinelFixture f{{sentinel.port()}};

  auto request = f.redis->post(kCall, {}, plus(Clock::now(), 3000ms));
  REQUIRE(turns(f.loop, [&] { return sentinel.count("SENTINEL") == 1; }));
  CHECK(wake_ups(f.loop, Milliseconds{100}) <= 3);

  sentinel.answer(named(primary.port()));
  CHECK(turns(f.loop, [&] { return request.settled(); }));
  CHECK(request.votes().front().good_reply() != nullptr);
  request.drop();
}

TEST_CASE("the first is dead, the second knows nothing, the third is out of date: the fourth is asked") {
  FakeRedis ignorant{kTcp}, stale{kTcp}, right{kTcp}, replica{kTcp}, primary{kTcp};
  ignorant.on("SENTINEL", wire::nil());
  stale.on("SENTINEL", named(replica.port()));
  right.on("SENTINEL", named(primary.port()));
  replica.on("ROLE", kReplica);
  primary.on("ROLE", kPrimary);
  primary.on("EVALSHA", wire::integer(1));
  SentinelFixture f{{free_port(), ignorant.port(), stale.port(), right.port()}};

  CHECK(f.vote().good_reply() != nullptr);
  CHECK(replica.count("EVALSHA") == 0);
}

TEST_CASE("if all Sentinels name a server that is silent, the call says so, whatever their number") {
  FakeRedis one{kTcp}, two{kTcp}, three{kTcp}, silent{kTcp};
  for (FakeRedis* sentinel : {&one, &two, &three}) sentinel->on("SENTINEL", named(silent.port()));
  silent.on("HELLO", wire::kSilence);
  // A connection that has lasted for a second is opened again without a pause.
  SentinelFixture f{{one.port(), two.port(), three.port()},
                    false,
                    {},
                    {.connect = Milliseconds{1200}, .command = Milliseconds{500}}};
  const Vote vote = f.vote(Milliseconds{1700});
  REQUIRE(vote.failure());
  CHECK(vote.failure()->text == "127.0.0.1:" + std::to_string(silent.port()) +
                                    ", the primary of 'mymaster': connected, but no answer to the greeting");
}

TEST_CASE(
    "if a Sentinel's name cannot be looked up for lack of descriptors, the call fails, and rlock goes on") {
  if (kSanitized) return skipped("UBSan needs descriptors of its own to see that an object is there");
  const int status = in_another_process([] {
    Loop loop;
    const Target target = parse_target("redis+sentinel://sentinel.invalid/mymaster");
    const Timeouts timeouts{.connect = Milliseconds{600}, .command = Milliseconds{500}};
    Executor redis{loop, std::vector<Target>{target}, {.timeouts = timeouts}};
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    const Vote vote = redis.run_all(kCall, {}, within(Milliseconds{3000})).front();
    return vote.failure() ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("a Sentinel that is silent costs only its share of the time") {
  FakeRedis sentinel{kTcp}, primary{kTcp};
  BlackHole hole;
  const auto acceptor = listen_on_loopback();
  sentinel.on("SENTINEL", named(primary.port()));
  primary.on("ROLE", kPrimary);
  primary.on("EVALSHA", wire::integer(1));
  SentinelFixture f{{hole.port(), acceptor.port, sentinel.port()}};
  const StopWatch watch;
  CHECK(f.vote().good_reply() != nullptr);
  CHECK(watch.elapsed() < 2500ms);
  ::close(acceptor.fd);
}

TEST_CASE("no Sentinel, no such primary and an old primary have messages of their own") {
  SentinelFixture nobody{{free_port(), free_port()}};
  CHECK(nobody.vote().failure()->text.starts_with("no Sentinel answers (Sentinel 127.0.0.1:"));

  BlackHole hole;
  SentinelFixture silent{{hole.port()}};
  CHECK(silent.vote(Milliseconds{100}).failure()->text ==
        "Sentinel 127.0.0.1:" + std::to_string(hole.port()) + ": no answer in time");

  FakeRedis ignorant{kTcp};
  ignorant.on("SENTINEL", wire::nil());
  SentinelFixture unknown{{free_port(), ignorant.port(), free_port()}};
  CHECK(unknown.vote().failure()->text.ends_with("it knows no primary called 'mymaster'"));

  FakeRedis sentinel{kTcp}, replica{kTcp};
  sentinel.on("SENTINEL", named(replica.port()));
  replica.on("ROLE", kReplica);
  SentinelFixture stale{{sentinel.port()}};
  CHECK(contains(stale.vote(Milliseconds{1000}).failure()->text, "but it is a replica"));

  FakeRedis liar{kTcp};
  liar.on("SENTINEL", wire::array({wire::text("\x1b[31m"), wire::text("99999")}));
  SentinelFixture lied{{liar.port()}};
  CHECK(contains(lied.vote().failure()->text, "does not say where the primary is"));

  FakeRedis lonely{kTcp};
  const auto gone = free_port();
  lonely.on("SENTINEL", named(gone));
  SentinelFixture dead{{lonely.port()}};
  CHECK(dead.vote().failure()->text ==
        "127.0.0.1:" + std::to_string(gone) + ", the primary of 'mymaster': connection refused");
}

TEST_CASE("a program that is no Sentinel is named, whichever of the others is dead or knows no primary") {
  FakeRedis web{kTcp}, ignorant{kTcp};
  for (const char* word : {"HELLO", "CLIENT", "SENTINEL"}) web.on(word, "HTTP/1.1 400 Bad Request\r\n\r\n");
  ignorant.on("SENTINEL", wire::nil());
  const std::uint16_t dead = free_port();
  for (const std::vector<std::uint16_t>& ports :
       std::vector<std::vector<std::uint16_t>>{{web.port(), dead},
                                               {dead, web.port()},
                                               {web.port(), ignorant.port()},
                                               {ignorant.port(), web.port()}}) {
    CAPTURE(ports);
    SentinelFixture f{ports};
    CHECK_MESSAGE(f.vote().failure()->lasts, f.vote().failure()->text);
  }
}

TEST_CASE("a replica is left, and the Sentinels are asked for the current primary") {
  Failover scene;
  auto& [sentinel, old_primary, new_primary, f] = scene;

  old_primary.on("EVALSHA", wire::error("READONLY You can't write against a read only replica."));
  old_primary.on("ROLE", kReplica);
  sentinel.on("SENTINEL", named(new_primary.port()));
  CHECK(f.vote().good_reply() != nullptr);
  CHECK(new_primary.count("EVALSHA") == 1);

  new_primary.hang_up();
  REQUIRE(turns(f.loop, [&] { return new_primary.open() == 0; }));
  CHECK(f.vote().good_reply() != nullptr);
  CHECK(sentinel.count("SENTINEL") == 3);
}

TEST_CASE("a primary that has been replaced is left although it still answers as one") {
  Failover scene;
  auto& [sentinel, old_primary, new_primary, f] = scene;
  f.redis->watch(Channel{"c"});

  sentinel.on("SENTINEL", named(new_primary.port()));
  CHECK(
      eventually([&] { return f.vote().good_reply() != nullptr && new_primary.count("EVALSHA") > 0; }, 10s));
  CHECK(turns(f.loop, [&] { return new_primary.count("SUBSCRIBE") == 1; }));
  CHECK(eventually([&] { return old_primary.open() == 0; }, 10s));
}

TEST_CASE("after a pause, no call reaches a primary that the Sentinels have replaced") {
  Failover scene;
  auto& [sentinel, old_primary, new_primary, f] = scene;
  SUBCASE("although it answers sooner than they do") {}
  SUBCASE("although an answer that names it has lain in its socket meanwhile") {
    std::this_thread::sleep_for(kPause);
    auto request = f.redis->post(kCall, {}, plus(Clock::now(), 3000ms));  // asks the Sentinel, too
    REQUIRE(turns(f.loop, [&] { return sentinel.count("SENTINEL") == 2; }));
    request.drop();
  }
  const auto before = old_primary.count("EVALSHA");
  sentinel.on("SENTINEL", named(new_primary.port()));
  sentinel.decide([](const Words& command) -> std::optional<std::string> {
    if (command.front() == "SENTINEL") std::this_thread::sleep_for(50ms);
    return std::nullopt;
  });
  std::this_thread::sleep_for(kPause);

  CHECK(f.vote().good_reply() != nullptr);
  CHECK(old_primary.count("EVALSHA") == before);
  CHECK(new_primary.count("EVALSHA") == 1);
}

TEST_CASE("after a pause, a call does not wait until silent Sentinels answer, and a channel is listened to") {
  Failover scene;
  auto& [sentinel, old_primary, new_primary, f] = scene;
  std::atomic<bool> answered = false;
  sentinel.decide([&](const Words& command) -> std::optional<std::string> {
    if (command.front() != "SENTINEL") return std::nullopt;
    std::this_thread::sleep_for(2000ms);
    answered = true;
    return std::nullopt;
  });
  f.redis->watch(Channel{"old"});
  REQUIRE(turns(f.loop, [&] { return old_primary.count("SUBSCRIBE") == 1; }));
  std::this_thread::sleep_for(kPause);
  auto request = f.redis->post(kCall, {}, plus(Clock::now(), 3000ms));  // waits for the Sentinel
  f.redis->watch(Channel{"new"});
  f.redis->unwatch(Channel{"old"});
  CHECK(turns(f.loop, [&] { return request.settled(); }));
  CHECK(request.votes().front().good_reply() != nullptr);
  request.drop();
  CHECK(turns(f.loop, [&] { return old_primary.count("SUBSCRIBE") == 2; }));
  CHECK(turns(f.loop, [&] { return old_primary.count("UNSUBSCRIBE") == 1; }));
  CHECK_FALSE(answered);
  CHECK(old_primary.count("EVALSHA") == 2);
}

TEST_CASE(
    "a primary that was replaced while it was frozen is not waited for, and not believed when it wakes up") {
  RedisServer old_primary{{.tcp = true}}, new_primary{{.tcp = true}};
  FakeRedis sentinel{kTcp};
  const Call set = command({"SET", "ghost", "1"}, "ghost");
  const Timeouts patient{.connect = Milliseconds{20000}, .command = Milliseconds{20000}};
  for (const bool wakes_up : {false, true}) {
    CAPTURE(wakes_up);
    sentinel.on("SENTINEL", named(old_primary.port()));
    const auto asked_before = sentinel.count("SENTINEL");
    old_primary.freeze();
    SentinelFixture f{{sentinel.port()}, false, {}, patient};
    auto request = f.redis->post(set, with_retries(), plus(Clock::now(), Milliseconds{15000}));
    // The Sentinel has named the frozen primary twice. From here on it names the new one.
    REQUIRE(turns(f.loop, [&] { return sentinel.count("SENTINEL") >= asked_before + 2; }));
    sentinel.on("SENTINEL", named(new_primary.port()));
    if (wakes_up) old_primary.thaw();
    CHECK(turns(f.loop, [&] { return request.settled(); }));
    CHECK(request.votes().front().good_reply() != nullptr);
    request.drop();
    if (!wakes_up) old_primary.thaw();
    CHECK(new_primary.has("ghost"));
    CHECK_FALSE(old_primary.has("ghost"));
    new_primary.cli({"DEL", "ghost"});
  }
}

TEST_CASE("a primary serves on when no Sentinel answers any more") {
  std::optional<FakeRedis> sentinel{std::in_place, kTcp};
  FakeRedis primary{kTcp};
  sentinel->on("SENTINEL", named(primary.port()));
  primary.on("ROLE", kPrimary);
  primary.on("EVALSHA", wire::integer(1));
  SentinelFixture f{{sentinel->port()}};
  REQUIRE(f.vote().good_reply() != nullptr);
  CHECK(eventually([&] { return f.vote().good_reply() != nullptr && sentinel->count("SENTINEL") > 2; }, 10s));
  sentinel.reset();
  const StopWatch watch;
  while (watch.elapsed() < 1200ms) CHECK(f.vote().good_reply() != nullptr);
  CHECK(primary.connections() == 1);
  CHECK(primary.count("ROLE") == 1);
  CHECK(wake_ups(f.loop, Milliseconds{100}) <= 2);
}

TEST_CASE("a subscription moves to the new primary without another call") {
  Failover scene;
  auto& [sentinel, old_primary, new_primary, f] = scene;
  f.redis->watch(Channel{"c"});
  REQUIRE(turns(f.loop, [&] { return f.redis->wakeups() == 1; }));

  sentinel.on("SENTINEL", named(new_primary.port()));
  old_primary.hang_up();
  CHECK(turns(f.loop, [&] { return f.redis->wakeups() == 2; }));
  CHECK(new_primary.count("SUBSCRIBE") == 1);
  new_primary.announce(wire::message("c", "0"));
  CHECK(turns(f.loop, [&] { return f.redis->wakeups() == 3; }));
}

TEST_CASE("a Sentinel without passwords is asked without one, and one that wants another says so") {
  FakeRedis open_one{kTcp}, closed{kTcp}, primary{kTcp};
  const auto wants_none = [](const Words& command) -> std::optional<std::string> {
    if (command.front() == "HELLO" && command.size() > 4)
      return wire::error("WRONGPASS invalid username-password pair");
    return std::nullopt;
  };
  open_one.decide(wants_none);
  open_one.on("SENTINEL", named(primary.port()));
  primary.on("ROLE", kPrimary);
  primary.on("EVALSHA", wire::integer(1));
  SentinelFixture f{{open_one.port()}, false, "app:secret@"};
  CHECK(f.vote().good_reply() != nullptr);
  CHECK(primary.log().front().at(4) == "secret");

  closed.on("HELLO", wire::error("WRONGPASS invalid username-password pair"));
  SentinelFixture refused{{closed.port(), free_port()}, true, "app:secret@"};
  const Vote vote = refused.vote();
  REQUIRE(vote.failure());
  CHECK(vote.failure()->kind == Error::denied);
  CHECK(contains(vote.failure()->text, "WRONGPASS"));
}

TEST_CASE("a primary that does not let us ask for its role is believed") {
  FakeRedis sentinel{kTcp}, primary{kTcp};
  sentinel.on("SENTINEL", named(primary.port()));
  primary.on("ROLE", wire::error("NOPERM this user has no permissions to run the 'role' command"));
  primary.on("EVALSHA", wire::integer(1));
  SentinelFixture f{{sentinel.port()}};
  CHECK(f.vote().good_reply() != nullptr);
}

TEST_CASE("a frozen primary is abandoned for the one that the Sentinels name next, and gets the undo") {
  RedisServer old_primary{{.tcp = true}}, new_primary{{.tcp = true}};
  FakeRedis sentinel{kTcp};
  sentinel.on("SENTINEL", named(old_primary.port()));
  SentinelFixture f{{sentinel.port()}};
  REQUIRE(f.vote().good_reply() != nullptr);

  old_primary.freeze();
  sentinel.on("SENTINEL", named(new_primary.port()));
  const Call set = command({"SET", "ghost", "1"}, "ghost");
  CHECK(f.redis->run_all(set, with_retries(), within(Milliseconds{5000})).front().good_reply() != nullptr);
  CHECK(new_primary.has("ghost"));
  CHECK(f.redis->losses() == 1);
  const Script erase{"test/erase", "0000000000000000000000000000000000000000",
                     "return redis.call('del', KEYS[1])"};
  f.redis->send_on_abandoned({{.script = &erase, .keys = {"ghost"}}});

  old_primary.thaw();
  CHECK(eventually([&] { return contains(old_primary.cli({"INFO", "commandstats"}), "cmdstat_del"); }));
  CHECK_FALSE(old_primary.has("ghost"));
}

TEST_CASE("a failover of real servers is followed") {
  RedisServer primary{{.tcp = true}};
  RedisServer replica{{.tcp = true, .config = {"replicaof 127.0.0.1 " + std::to_string(primary.port())}}};
  REQUIRE(eventually([&] { return contains(replica.cli({"ROLE"}), "connected"); }, 10s));
  SentinelServer sentinel{"mymaster", primary};
  REQUIRE(eventually(
      [&] {
        return contains(sentinel.ask({"SENTINEL", "REPLICAS", "mymaster"}), std::to_string(replica.port()));
      },
      15s));
  SentinelFixture f{{sentinel.port()}, true};
  REQUIRE(f.vote(Milliseconds{5000}).good_reply() != nullptr);

  primary.kill();
  const StopWatch watch;
  CHECK(f.vote(Milliseconds{20000}).good_reply() != nullptr);
  MESSAGE("failover followed after " << watch.elapsed().count() << " ms");
  CHECK(RespClient{replica.where()}.ask({"ROLE"}).starts_with("master"));
}
