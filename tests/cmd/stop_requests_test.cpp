#include "cmd/run/stop_requests.h"

#include <doctest/doctest.h>

#include "redis/executor.h"
#include "support/fake_redis.h"
#include "support/turning.h"
#include "sync/kinds/permits.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("a holder that hears of the releases of many others stops listening to them") {
  FakeRedis server;
  Loop loop;
  Executor redis{loop, {parse_target(server.url())}, {}};
  const auto permit = std::make_shared<Permits>(
      Claim{.name = LockName{"seats"}, .owner = Owner{"us"}, .lease = Milliseconds{30000}},
      Permits::Wanted{});
  const std::vector<Part> parts{{.lock = permit}};
  redis.watch(permit->channels().front());  // as the wait for it did
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 1; }));
  // It is not a second old for an hour yet.
  const StopRequests requests{redis, parts, plus(Clock::now(), std::chrono::hours{1})};

  for (int i = 0; i < 8; ++i) server.announce(wire::message("redisson_sc:{seats}", "1"));
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 9; }));
  loop.turn(Clock::now());
  CHECK(server.count("UNSUBSCRIBE") == 0);
  server.announce(wire::message("redisson_sc:{seats}", "1"));
  CHECK(turns(loop, [&] { return server.count("UNSUBSCRIBE") == 1; }));
}
