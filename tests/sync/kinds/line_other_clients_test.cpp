// Other clients may listen for the releases of a lock. Then some releases are left to them for a moment.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/eventually.h"
#include "support/line_scene.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("a release tells the first of the line that it is its turn, and Redisson's channel as always") {
  LineScene scene;
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener redisson{scene.server, Channel{kLockChannel}};
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);

  CHECK(scene.release("a:1").unannounced.empty());
  CHECK(first.heard() == "0");
  CHECK(redisson.heard() == "0");
  CHECK(second.heard() == "2 0");

  const std::string told = scene.known_of("b:1").at(3);
  CHECK(told != "0");
  CHECK(scene.known_of("c:1").at(3) == "0");
  scene.ask("a:1");
  scene.release("a:1");
  CHECK(scene.known_of("b:1").at(3) == told);  // the time of b runs from the first message
}

TEST_CASE("if only the first two listen, the first is always told to ask at once") {
  LineScene scene;
  const Listener first{scene.server, Channel{kLockChannel}};
  const Listener second{scene.server, Channel{kLockChannel}};
  Listener told = scene.listener("b:1");
  const Listener next = scene.listener("c:1");
  for (int i = 0; i < 9; ++i) {
    for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
    scene.release("a:1");
    CHECK(told.heard() == "0");
  }
}

TEST_CASE("in a cluster the first two hear each release twice, and are told to ask at once") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  LineScene scene;
  const Listener first{scene.server, Channel{kLockChannel}};
  const Listener first_sharded{scene.server, Channel{kLockChannel}, /*sharded=*/true};
  const Listener second{scene.server, Channel{kLockChannel}};
  const Listener second_sharded{scene.server, Channel{kLockChannel}, /*sharded=*/true};
  const Listener told = scene.listener("b:1");
  const Listener next = scene.listener("c:1");
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(in_cluster(owner));
  scene.Scene::release(in_cluster("a:1"));
  CHECK(scene.known_of("") == std::vector<std::string>{""});  // no note of other clients
}

TEST_CASE("beside a waiter of another client some releases are left to it for a moment") {
  LineScene scene;
  const Listener redisson{scene.server, Channel{kLockChannel}};
  const Listener first_too{scene.server, Channel{kLockChannel}};
  Listener first = scene.listener("b:1");
  int at_once = 0;
  int later = 0;
  const bool both = eventually([&] {
    scene.ask("a:1");
    scene.ask("b:1");
    scene.release("a:1");
    (first.heard() == "0" ? at_once : later) += 1;
    scene.ask("b:1");  // else b:1 would count as passed, and after ten passes a:1 would not get the lock
    scene.release("b:1");
    return at_once > 0 && later > 0;
  });
  CHECK(both);
}

TEST_CASE("in a long line, other clients count for two seconds if they have heard each release for 50 ms") {
  LineScene scene;
  const Listener first_too{scene.server, Channel{kLockChannel}};
  const Listener second_too{scene.server, Channel{kLockChannel}};
  Listener first = scene.listener("b:1");
  const Listener second = scene.listener("c:1");
  const Listener third = scene.listener("d:1");
  const auto release = [&] {
    for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
    scene.release("a:1");
    return first.heard();
  };
  const auto noted = [&] { return std::stoll(scene.known_of("").at(1)); };

  std::optional<Listener> other{std::in_place, scene.server, Channel{kLockChannel}};
  // Not "later 10": the third listener may be a waiter whose place has just changed.
  CHECK(release() == "0");
  CHECK(noted() > 0);
  other.reset();
  REQUIRE(eventually(
      [&] { return scene.server.cli({"PUBSUB", "NUMSUB", kLockChannel}) == kLockChannel + "\n2"; }));
  CHECK(release() == "0");
  CHECK(noted() == 0);

  other.emplace(scene.server, Channel{kLockChannel});
  CHECK(release() == "0");
  const auto since = noted();
  CHECK(first.silence());  // for 50 ms
  release();
  CHECK(noted() >= since + 2050);
}

TEST_CASE("in a long line, a release that other clients hear prolongs their time only if it is almost over") {
  LineScene scene;
  const Listener first_too{scene.server, Channel{kLockChannel}};
  const Listener second_too{scene.server, Channel{kLockChannel}};
  const Listener other{scene.server, Channel{kLockChannel}};
  const Listener first = scene.listener("b:1"), second = scene.listener("c:1"), third = scene.listener("d:1");
  /// By how many ms a release prolongs the time of the other clients, which had `rest` ms left before it.
  const auto noted_after = [&](std::int64_t rest) {
    for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
    const std::int64_t before = std::stoll(scene.server.cli({"TIME"})) * 1000 + rest;
    scene.server.cli({"HSET", kLine + ":waiters", "", "0 " + std::to_string(before)});
    scene.release("a:1");
    return std::stoll(scene.known_of("").at(1)) - before;
  };
  CHECK(noted_after(1000) > 0);
  CHECK(noted_after(60'000) == 0);
}
