#include "sync/watch/inquiry.h"

#include <doctest/doctest.h>

#include "redis/executor.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE(
    "an inquiry ends with what the server knows of a key, and with the number of listeners on a channel") {
  RedisServer server;
  server.cli({"HSET", "k", "me:1", "1"});
  const Channel channel{"c"};
  const Listener listener{server, channel};
  Loop loop;
  Executor redis{loop, {parse_target(server.environment().env["RLOCK_URL"])}, {}};
  Inquiry inquiry{redis};
  inquiry.begin(LockName{"k"}, channel, Milliseconds{5000});
  REQUIRE(turns(loop, [&] { return inquiry.advance(), !inquiry.under_way(); }));
  REQUIRE(inquiry.seen().size() == 1);
  CHECK(inquiry.seen().front().held_by(Owner{"me:1"}));
  CHECK(inquiry.listeners() == 1);
}
