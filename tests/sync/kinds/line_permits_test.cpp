// Waiters for permits stand in one line, and as many go on as the free permits can serve.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/line_scene.h"
#include "sync/kinds/permit_lock.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("as many waiters are told as the returned permits can serve") {
  LineScene scene;
  const auto permits = [](const std::string& owner, std::int64_t count) {
    return PermitLock{waiting(owner), {.count = count, .total = 3}};
  };
  const std::string channel = "redisson_sc:{deploy}";
  REQUIRE(is_held(scene.ask(permits("a:1", 3))));
  CHECK(busy(scene.ask(permits("b:1", 1))).position == 1);
  CHECK(busy(scene.ask(permits("c:1", 2))).position == 2);
  CHECK(busy(scene.ask(permits("d:1", 1))).position == 3);
  Listener one{scene.server, Channel{channel + ":b:1"}};
  Listener two{scene.server, Channel{channel + ":c:1"}};
  Listener three{scene.server, Channel{channel + ":d:1"}};
  scene.Scene::release(permits("a:1", 3));
  CHECK(one.heard() == "0");
  CHECK(two.heard() == "0");
  CHECK(three.heard() == "3 0");  // it asks soon, in case one of the two is frozen
  CHECK(is_held(scene.ask(permits("c:1", 2))));
  CHECK(is_held(scene.ask(permits("b:1", 1))));
}

TEST_CASE("a waiter that gives up waiting for permits leaves the line, and passes on that it was told") {
  LineScene scene;
  const auto permits = [](const std::string& owner) {
    return PermitLock{waiting(owner), {.count = 1, .total = 1}};
  };
  scene.ask(permits("a:1"));
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  Listener first{scene.server, Channel{"redisson_sc:{deploy}:b:1"}};
  Listener second{scene.server, Channel{"redisson_sc:{deploy}:c:1"}};
  scene.Scene::release(permits("a:1"));
  CHECK(first.heard() == "0");

  scene.undo(permits("b:1"));
  CHECK(second.heard() == "2 0");
  CHECK(second.heard() == "1 -2");
  CHECK(second.heard() == "0");
  CHECK(scene.line() == "c:1");
}

TEST_CASE("permits that another client returned are announced to the line by the client that finds them") {
  LineScene scene;
  const auto permits = [](const std::string& owner) {
    return PermitLock{waiting(owner), {.count = 1, .total = 3}};
  };
  const std::string taken = "{deploy}:timeout";
  const PermitLock all{waiting("a:1"), {.count = 3, .total = 3}};
  const auto fill = [&] { return std::get<Held>(scene.ask(all)).permits; };
  const auto listener = [&](const std::string& owner) {
    return Listener{scene.server, Channel{"redisson_sc:{deploy}:" + owner}};
  };
  Listener first = listener("b:1"), second = listener("c:1");

  std::vector<std::string> ids = fill();
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  // the leases have ended
  for (const std::string& id : ids) scene.server.cli({"ZADD", taken, "XX", "1", id});
  REQUIRE(is_held(scene.ask(permits("d:1"))));  // a newcomer
  CHECK(first.heard() == "0");
  CHECK(second.heard() == "0");

  scene.redis.run(command({"FLUSHALL"}));
  ids = fill();
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  for (const std::string& id : ids)
    scene.server.cli({"ZREM", taken, id});  // as another client gives them
                                            // back
  scene.server.cli({"INCRBY", "deploy", "3"});
  REQUIRE(is_held(scene.ask(permits("b:1"))));
  CHECK(second.heard() == "1 0");  // it asks soon, in case one before it was told and is frozen
  CHECK(second.heard() == "0");
}

TEST_CASE("a frozen waiter that needs more permits than there are hinders the others for a moment only") {
  LineScene scene;
  const auto permits = [](const std::string& owner, std::int64_t count) {
    return PermitLock{waiting(owner), {.count = count, .total = 3}};
  };
  scene.ask(permits("a:1", 2));
  Listener frozen{scene.server, Channel{"redisson_sc:{deploy}:b:1"}};
  scene.ask(permits("b:1", 3));
  scene.passed_ten_times();
  scene.asked_earlier("b:1", 3000);
  CHECK(is_busy(scene.ask(permits("c:1", 1))));
  CHECK(frozen.heard() == "0");  // it must ask now
  scene.told_earlier("b:1", 1100);
  CHECK(is_held(scene.ask(permits("c:1", 1))));
}

TEST_CASE("permits that are too few for the first waiter serve the next, but not more than ten times") {
  LineScene scene;
  const auto permits = [](const std::string& owner, std::int64_t count) {
    return PermitLock{waiting(owner), {.count = count, .total = 3}};
  };
  scene.ask(permits("a:1", 2));
  const Listener first{scene.server, Channel{"redisson_sc:{deploy}:b:1"}};
  CHECK(busy(scene.ask(permits("b:1", 3))).position == 1);
  for (int i = 0; i < 10; ++i) {
    const PermitLock small = permits("n:" + std::to_string(i), 1);
    REQUIRE(is_held(scene.ask(small)));
    scene.Scene::release(small);
  }
  CHECK(busy(scene.ask(permits("n:10", 1))).position == 2);
}
