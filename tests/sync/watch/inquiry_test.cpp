#include "sync/watch/inquiry.h"

#include <doctest/doctest.h>

#include "redis/executor/executor.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "support/sockets.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A server with the lock "k" of me:1, one waiter in its line, and one listener on the channel "c".
struct Asked {
  Asked() {
    server.cli({"HSET", "k", "me:1", "1"});
    server.cli({"ZADD", "redisson_unlock_latch:{k}:line", "1", "w:1"});
  }
  void ends() {
    REQUIRE(turns(loop, [&] { return inquiry.advance(), !inquiry.under_way(); }));
    REQUIRE(inquiry.seen().size() == 1);
  }

  RedisServer server{};
  const Channel channel{"c"};
  const Listener listener{server, channel};
  Loop loop{};
  Executor redis{loop, {parse_target(server.environment().env["RLOCK_URL"])}, {}};
  Inquiry inquiry{redis};
};

constexpr Milliseconds kWithin{5000};

}  // namespace

TEST_CASE(
    "an inquiry ends with what the server knows of a key, and with the number of listeners on a channel") {
  Asked asked;
  asked.inquiry.begin(LockName{"k"}, asked.channel, kWithin);
  asked.ends();
  CHECK(asked.inquiry.seen().front().held_by(Owner{"me:1"}));
  CHECK(asked.inquiry.listeners() == 1);
}

TEST_CASE("a glance at a key names its holder and the place of the waiter that asks") {
  Asked asked;
  asked.inquiry.glance(LockName{"k"}, Owner{"w:1"}, std::nullopt, kWithin);
  asked.ends();
  CHECK(asked.inquiry.seen().front().held_by(Owner{"me:1"}));
  REQUIRE(asked.inquiry.seen().front().place);
  CHECK(asked.inquiry.seen().front().place->position == 1);
}

TEST_CASE("an inquiry without a channel has no listeners, even if the one before it had some") {
  Asked asked;
  asked.inquiry.begin(LockName{"k"}, asked.channel, kWithin);
  SUBCASE("that one has ended") { asked.ends(); }
  SUBCASE("that one has not ended") {}
  asked.inquiry.begin(LockName{"k"}, std::nullopt, kWithin);
  asked.ends();
  CHECK(asked.inquiry.listeners() == 0);
}

TEST_CASE("an inquiry goes on when a quorum has answered, and a silent server costs only its own view") {
  RedisServer one, other;
  const BlackHole silent;
  Loop loop;
  std::vector<Target> targets;
  for (RedisServer* server : {&one, &other}) {
    server->cli({"HSET", "k", "me:1", "1"});
    targets.push_back(parse_target(server->environment().env["RLOCK_URL"]));
  }
  targets.push_back(parse_target("redis://127.0.0.1:" + std::to_string(silent.port())));
  Executor redis{loop, targets, {}};
  Inquiry inquiry{redis};
  inquiry.begin(LockName{"k"}, std::nullopt, Milliseconds{60000});
  REQUIRE(turns(loop, [&] { return inquiry.advance(), !inquiry.under_way(); }));
  CHECK(inquiry.seen().size() == 2);
}

TEST_CASE("an inquiry ends without a view if no server answers in time") {
  const BlackHole silent;
  Loop loop;
  Executor redis{loop, {parse_target("redis://127.0.0.1:" + std::to_string(silent.port()))}, {}};
  Inquiry inquiry{redis};
  inquiry.begin(LockName{"k"}, std::nullopt, Milliseconds{20});
  REQUIRE(turns(loop, [&] { return inquiry.advance(), !inquiry.under_way(); }));
  CHECK(inquiry.seen().empty());
}
