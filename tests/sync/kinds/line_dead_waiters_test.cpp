// Waiters that were killed, or are frozen, do not keep the ones behind them from the lock, and leave the line.

#include <doctest/doctest.h>

#include <string>

#include "support/line_scene.h"
#include "sync/kinds/read_write.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE("a killed waiter at the front of a moving line is dropped") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener third = scene.listener("e:1");
  scene.release("a:1");
  CHECK(first.heard() == "0");
  CHECK(third.heard() == "2 0");
  CHECK(scene.line() == "b:1\ne:1");
  scene.ask("b:1");
  CHECK(third.heard().starts_with("1 "));
  CHECK(scene.line() == "e:1");
}

TEST_CASE(
    "if the first is frozen, the next two that live ask soon after a release, however many were killed") {
  LineScene scene;
  for (const char* owner : {"a:1", "frozen:1", "dead:1", "b:1", "dead:2", "c:1", "d:1"}) scene.ask(owner);
  const Listener frozen = scene.listener("frozen:1");
  Listener second = scene.listener("b:1");
  Listener third = scene.listener("c:1");
  Listener fourth = scene.listener("d:1");
  scene.release("a:1");
  CHECK(second.heard() == "2 0");
  CHECK(third.heard() == "3 0");
  CHECK(fourth.silence());
  CHECK(scene.line() == "frozen:1\nb:1\nc:1\nd:1");
}

TEST_CASE("of many killed waiters at the front, sixteen leave the line at a time") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  for (int i = 0; i < 40; ++i) scene.ask("dead:" + std::to_string(i));
  scene.ask("c:1");
  const Listener first = scene.listener("b:1");
  const Listener last = scene.listener("c:1");
  scene.release("a:1");
  CHECK(scene.server.cli({"ZCARD", kLine}) == "26");
  scene.ask("b:1");
  CHECK(scene.server.cli({"ZCARD", kLine}) == "9");
}

TEST_CASE("if the first was killed the next is told in the same call, however many were killed") {
  LineScene scene;
  scene.ask("a:1");
  for (int i = 0; i < 40; ++i) scene.ask("dead:" + std::to_string(i));
  scene.ask("b:1");
  Listener living = scene.listener("b:1");
  scene.release("a:1");
  CHECK(living.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE("if the first was killed the next is told, and the new second learns its place") {
  LineScene scene;
  for (const char* owner : {"a:1", "dead:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
  Listener next = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener third = scene.listener("d:1");
  scene.release("a:1");
  CHECK(next.heard() == "0");
  CHECK(second.heard() == "2 0");
  CHECK(third.heard() == "3 0");
}

TEST_CASE("the places that waiters are told do not count dead waiters in front") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("dead:1");
  scene.ask("dead:2");
  for (const char* owner : {"dead:1", "dead:2"}) {
    scene.server.cli({"HSET", kLine + ":waiters", owner, "1 1 1 0 0"});  // counts as alive until 1970
  }
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(scene.line() == "b:1");
}

TEST_CASE("frozen waiters leave some notes behind, but not any number, and one that gives up leaves none") {
  LineScene scene;
  const ReadLock newcomer{leaving("n:1")};
  const auto notes = [&] { return std::stoi(scene.server.cli({"HLEN", kLine + ":waiters"})); };
  const auto writer = [](int number) { return WriteLock{waiting("w:" + std::to_string(number))}; };
  const Listener last{scene.server, Channel{"redisson_rwlock:{deploy}:last:1"}};
  for (int i = 0; i < 40; ++i) {
    const std::string owner = "w:" + std::to_string(i);
    const Listener frozen{scene.server, Channel{"redisson_rwlock:{deploy}:" + owner}};
    scene.server.cli({"HSET", "deploy", "mode", "write", "holder:1:write", "1"});
    REQUIRE(is_busy(scene.ask(WriteLock{waiting("last:1")})));
    REQUIRE(busy(writer(i).read(scene.redis.run(writer(i).ask(3600000ms)))).position == 1);
    scene.server.del("deploy");
    REQUIRE(is_busy(scene.ask(newcomer)));
    scene.told_earlier(owner, 1000);
    REQUIRE(is_busy(scene.ask(newcomer)));
    REQUIRE(scene.line() == "last:1");
    if (i == 0) {
      CHECK(notes() == 2);
      scene.undo(writer(0));
      CHECK(notes() == 1);
    }
  }
  CHECK(notes() <= 33);
  CHECK(notes() >= 30);
}
