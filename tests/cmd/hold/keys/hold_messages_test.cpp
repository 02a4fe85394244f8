#include "cmd/hold/keys/hold_messages.h"

#include <doctest/doctest.h>

#include "redis/executor/executor.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/turning.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/permit_lock.h"
#include "sync/records/holder_messages.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A holder of the lock "deploy", on a server with scripted answers.
struct DeployHolder {
  FakeRedis server{};
  Loop loop{};
  Executor redis{loop, {parse_target(server.url())}, {}};
  std::shared_ptr<Lock> lock =
      std::make_shared<Lock>(Claim{.name = LockName{"deploy"}, .owner = Owner{"us"}}, Hold::first);
  std::vector<Part> parts{{.lock = lock}};
};

}  // namespace

TEST_CASE("a holder that hears of the releases of many others stops listening to them") {
  FakeRedis server;
  Loop loop;
  Executor redis{loop, {parse_target(server.url())}, {}};
  const auto permit = std::make_shared<PermitLock>(
      Claim{.name = LockName{"seats"}, .owner = Owner{"us"}, .lease = Milliseconds{30000}},
      PermitLock::Wanted{});
  const std::vector<Part> parts{{.lock = permit}};
  const auto of_wait = std::make_shared<Mailbox>(redis);
  of_wait->listen_to(permit->channels());
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 1; }));
  // No request counts before this hour has passed.
  const HoldMessages requests{redis, parts, plus(Clock::now(), std::chrono::hours{1}), of_wait};

  for (int i = 0; i < 8; ++i) server.announce(wire::message("redisson_sc:{seats}", "1"));
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 9; }));
  loop.turn(Clock::now());
  CHECK(server.count("UNSUBSCRIBE") == 0);
  server.announce(wire::message("redisson_sc:{seats}", "1"));
  CHECK(turns(loop, [&] { return server.count("UNSUBSCRIBE") == 1; }));
  CHECK(requests.wake_at() > Clock::now());  // else the loop would never sleep again
}

TEST_CASE("a holder stops listening to releases in the same write as its next call") {
  DeployHolder holder;
  auto& [server, loop, redis, lock, parts] = holder;
  server.on("GET", wire::nil());
  const auto of_wait = std::make_shared<Mailbox>(redis);
  of_wait->listen_to(lock->channels());
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 1; }));
  HoldMessages requests{redis, parts, plus(Clock::now(), std::chrono::hours{1}), of_wait};

  requests.end_wait();
  // Nothing is written before the next call.
  CHECK_FALSE(eventually([&] { return server.count("UNSUBSCRIBE") > 0; }, std::chrono::milliseconds{20}));
  const auto release = redis.post(command({"GET", "k"}), {}, plus(Clock::now(), Milliseconds{5000}));
  REQUIRE(turns(loop, [&] { return release.settled(); }));
  const auto log = server.log();
  REQUIRE(log.size() >= 2);
  CHECK(log[log.size() - 2] == Words{"UNSUBSCRIBE", "redisson_lock__channel:{deploy}"});
  CHECK(log.back().front() == "GET");
}

TEST_CASE("a holder that begins to listen to requests stops listening to all that waiters hear") {
  DeployHolder holder;
  auto& [server, loop, redis, lock, parts] = holder;
  const auto of_wait = std::make_shared<Mailbox>(redis);
  of_wait->listen_to({lock->channels().front(), Channel{"to all waiters"}});
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 2; }));
  HoldMessages requests{redis, parts, Clock::now(), of_wait};
  REQUIRE(turns(loop, [&] { return requests.take_confirmation(); }));
  CHECK(turns(loop, [&] { return server.count("UNSUBSCRIBE") == 2; }));
}

TEST_CASE("a holder that has waited on its own channel learns that it may have missed messages there") {
  DeployHolder holder;
  auto& [server, loop, redis, lock, parts] = holder;
  const auto of_wait = std::make_shared<Mailbox>(redis);
  of_wait->listen_to({holder_channel(lock->name(), lock->owner())});
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 1; }));
  HoldMessages requests{redis, parts, Clock::now(), of_wait};
  CHECK(turns(loop, [&] { return requests.take_confirmation(); }));
  CHECK_FALSE(requests.take_confirmation());
}

TEST_CASE("a holder whose mailbox of the wait was cut down before it listens asks once, too") {
  DeployHolder holder;
  auto& [server, loop, redis, lock, parts] = holder;
  const auto of_wait = std::make_shared<Mailbox>(redis);
  of_wait->listen_to({lock->channels().front(), holder_channel(lock->name(), lock->owner())});
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 2; }));
  HoldMessages requests{redis, parts, plus(Clock::now(), Milliseconds{50}), of_wait};
  requests.end_wait();
  CHECK(turns(loop, [&] { return requests.take_confirmation(); }));
}

TEST_CASE("each question about requests hears the messages that have come") {
  DeployHolder holder;
  auto& [server, loop, redis, lock, parts] = holder;
  HoldMessages requests{redis, parts, Clock::now(), nullptr};
  CHECK(turns(loop, [&] { return requests.take_confirmation(); }));
  const auto comes = [&](const std::string& text) {
    const std::uint64_t before = redis.wakeups();
    server.announce(wire::message("redisson_lock__channel:{deploy}:us", text));
    REQUIRE(turns(loop, [&] { return redis.wakeups() > before; }));
  };
  comes(stop_request("alice@ops", "stuck"));
  CHECK(requests.asked() == "alice@ops: stuck");
  comes(removal_notice("bob@ops", ""));
  CHECK(requests.removed() == "bob@ops");
  CHECK(requests.take_removal());
  CHECK_FALSE(requests.take_removal());
  comes(removal_notice("bob@ops", ""));
  CHECK(requests.take_removal());
  CHECK_FALSE(requests.take_release());
  comes(std::string{kReleased});
  CHECK(requests.take_release());
}
