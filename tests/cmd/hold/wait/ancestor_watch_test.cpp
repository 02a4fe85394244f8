#include "cmd/hold/wait/ancestor_watch.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/ancestry.h"
#include "redis/executor/executor.h"
#include "support/redis_server.h"
#include "support/turning.h"
#include "sync/kinds/lock.h"
#include "sync/records/metadata.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The record of a hold of our parent process.
Metadata of_parent() {
  Metadata facts = about_us("parent");
  facts.pid = ::getppid();
  if (const auto parent = process_of(::getppid())) facts.started = parent->started;
  facts.renews = true;
  return facts;
}

}  // namespace

TEST_CASE("a wait that an ancestor blocks ends, though the answers have named another key meanwhile") {
  RedisServer server;
  Loop loop;
  Executor redis{loop, {parse_target(server.url())}, {}};
  const Lock ours{{.name = LockName{"a"}, .owner = Owner{"o:1"}, .lease = Milliseconds{60000}}};
  const auto by_parent =
      write_metadata(ours.name(), ours.owner(), ours.hold_entry(), Milliseconds{60000}, of_parent());
  server.cli({"HSET", "a", "o:1", "1"});
  server.cli({"HSET", "b", "p:1", "1"});
  const auto written = redis.post(by_parent, {}, plus(loop.now(), Milliseconds{5000}));
  REQUIRE(turns(loop, [&] { return written.settled(); }));
  REQUIRE(server.has("rlock:meta:{a}"));

  AncestorWatch watch{redis, {.type = "lock", .joins = false, .answer_within = Milliseconds{5000}}};
  const auto hear = [&](const char* key, const char* holder) {
    const Busy busy{.key = LockName{key}, .holder = holder};
    watch.note_waiting({.busy = &busy, .what = ours});
  };
  hear("a", "o:1");
  watch.look_at({.key = LockName{"a"}, .holder = "o:1"});
  CHECK_FALSE(watch.ends_the_wait());  // the holder may be about to release it
  hear("b", "p:1");
  hear("a", "o:1");
  CHECK(turns(loop, [&] { return watch.ends_the_wait(); }));
}
