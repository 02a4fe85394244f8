// An inner hold uses the permits of the outer one, and keeps them until it has ended.

#include <doctest/doctest.h>

#include <variant>

#include "support/permit_scene.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

TEST_CASE("a hold inside a hold uses its permits, slots included, and gives nothing back") {
  Permitted scene;
  const PermitLock inner = permits("a:1", {.lease = Milliseconds{1000}, .hold = Hold::inner});
  CHECK(std::get<Refused>(scene.ask(inner)).why == Refused::Why::absent);
  const auto outer = std::get<Held>(scene.ask(permits("a:1", {.total = 1})));
  CHECK(std::get<Held>(scene.ask(inner)).permits == outer.permits);
  CHECK(scene.renew(inner));
  CHECK(scene.release(inner).how == How::still_held);
  scene.undo(inner);
  CHECK(scene.taken() == "1");
}

TEST_CASE("permits stay taken until the last hold inside has ended, although the outer hold was released") {
  Permitted scene;
  const PermitLock outer = permits("a:1", {.count = 2, .total = 2});
  const PermitLock inner = permits("a:1", {.hold = Hold::inner});
  const PermitLock other = permits("b:1", {.count = 2, .total = 2});
  for (const PermitLock& hold : {outer, inner}) CHECK(is_held(scene.ask(hold)));
  CHECK(scene.release(outer).how == How::still_held);
  CHECK(is_busy(scene.ask(other)));
  CHECK(scene.renew(inner));
  CHECK(scene.release(inner).how == How::yes);
  CHECK(scene.release(inner).how == How::not_ours);
  CHECK(is_held(scene.ask(other)));
  CHECK(scene.release(outer).how == How::not_ours);
  CHECK(scene.taken() == "2");
}

TEST_CASE("an owner that acquires one permit more keeps its inner hold") {
  Permitted scene;
  const PermitLock outer = permits("a:1", {.total = 3}), inner = permits("a:1", {.hold = Hold::inner});
  const PermitLock more = permits("a:1", {.count = 2, .total = 3});
  for (const PermitLock& hold : {outer, inner, more}) CHECK(is_held(scene.ask(hold)));
  CHECK(scene.release(more).how == How::still_held);
  CHECK(scene.taken() == "2");
  CHECK(scene.release(inner).how == How::yes);
  CHECK(scene.taken() == "0");
}

TEST_CASE("--min-hold of the outer hold counts after the inner hold of a permit, too") {
  Permitted scene;
  const PermitLock outer = permits("a:1", {.total = 1}), inner = permits("a:1", {.hold = Hold::inner});
  const auto held = std::get<Held>(scene.ask(outer));
  scene.ask(inner);
  CHECK(scene.release(outer, {.keep_until = held.server_time + Milliseconds{60000}}).how == How::kept);
  const Released kept = scene.release(inner);
  CHECK(kept.how == How::kept);
  CHECK(kept.rest > Milliseconds{59000});
  CHECK(is_busy(scene.ask(permits("b:1", {.total = 1}))));
}

TEST_CASE("a hold inside a hold has the permits for its whole lease from the start") {
  Permitted scene;
  scene.ask(permits("a:1", {.total = 1, .lease = Milliseconds{3000}}));
  scene.server.cli({"CONFIG", "SET", "maxmemory", "1"});  // the server takes no new keys
  CHECK(is_held(scene.ask(permits("a:1", {.hold = Hold::inner}))));
  scene.server.cli({"CONFIG", "SET", "maxmemory", "0"});
  CHECK(std::get<Busy>(scene.ask(permits("b:1", {.total = 1}))).retry_after > Milliseconds{29000});
}
