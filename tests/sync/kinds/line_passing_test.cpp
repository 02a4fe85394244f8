// A newcomer may pass a waiter in the line ten times. A waiter that is frozen or dead is passed, too.

#include <doctest/doctest.h>

#include <string>

#include "support/eventually.h"
#include "support/line_scene.h"
#include "sync/kinds/read_write.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE("a newcomer may take a free lock, but passes no waiter that was passed ten times") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  Listener first = scene.listener("b:1");
  scene.release("a:1");
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i);
    const std::string newcomer = "n:" + std::to_string(i);
    REQUIRE(is_held(scene.ask(newcomer)));
    CHECK(busy(scene.ask("b:1")).position == 1);
    scene.release(newcomer);
  }
  const Busy& late = busy(scene.ask("n:10"));
  CHECK(late.position == 2);
  CHECK(late.holder.empty());
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE("a newcomer that may not pass tells the first waiter that the lock is free, and asks again later") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  scene.passed_ten_times();
  scene.server.del("deploy");  // or as at the end of its lease
  CHECK(busy(scene.ask("n:1")).retry_after == 1010ms);
  CHECK(first.heard() == "0");
  CHECK(scene.known_of("b:1").at(3) != "0");  // the time at which it was told
}

TEST_CASE("dead waiters in front do not hide one that may not be passed") {
  LineScene scene;
  for (const char* owner : {"a:1", "dead:1", "b:1"}) scene.ask(owner);
  Listener living = scene.listener("b:1");
  scene.passed_ten_times();
  scene.server.cli({"HSET", kLine + ":waiters", "dead:1", "1 1 1 0 0"});  // counts as alive until 1970
  scene.server.del("deploy");
  CHECK(is_busy(scene.ask(Lock{leaving("n:1")})));
  CHECK(living.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE(
    "a newcomer passes any number of dead waiters, but a reader behind sixteen others does not go on at once") {
  LineScene scene;
  scene.ask("a:1");
  for (int i = 0; i < 17; ++i) scene.ask("dead:" + std::to_string(i));
  scene.passed_ten_times();
  scene.server.del("deploy");
  CHECK(is_held(scene.ask("n:1")));

  scene.redis.run(command({"FLUSHALL"}));
  const auto ask_reader = [&](int number) {
    return scene.ask(ReadLock{waiting("r:" + std::to_string(number))});
  };
  scene.ask(WriteLock{waiting("w:1")});
  for (int i = 0; i < 16; ++i) REQUIRE(is_busy(ask_reader(i)));
  scene.server.del("deploy");
  CHECK(busy(ask_reader(16)).retry_after == 260ms);  // behind this many readers there may be a writer
}

TEST_CASE("the passes of the first count for those behind it, too") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  scene.release("a:1");
  for (int i = 0; i < 10; ++i) {
    const std::string newcomer = "n:" + std::to_string(i);
    REQUIRE(is_held(scene.ask(newcomer)));
    scene.ask("d:1");  // d:1 has come later
    scene.ask("b:1");
    scene.release(newcomer);
  }
  REQUIRE(is_held(scene.ask("b:1")));
  scene.release("b:1");
  CHECK(is_busy(scene.ask("n:10")));
  CHECK(is_held(scene.ask("c:1")));
}

TEST_CASE("a frozen waiter is not passed more often afterwards") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener frozen = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  for (int i = 0; i < 10; ++i) {
    scene.release(i == 0 ? "a:1" : "n:" + std::to_string(i - 1));
    REQUIRE(is_held(scene.ask("n:" + std::to_string(i))));
  }
  scene.release("n:9");
  CHECK(is_busy(scene.ask("n:10")));
  CHECK(frozen.heard() == "0");
  scene.told_earlier("b:1", 300);  // as if the message had been sent so long ago
  CHECK(is_busy(scene.ask("c:1")));
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE(
    "a waiter that was told and stays away for a quarter of a second is passed, and waits again later") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener frozen = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  scene.release("a:1");
  CHECK(frozen.heard() == "0");
  for (int i = 0; i < 10; ++i) {  // now b:1 may not be passed, so c:1 gets the lock only after the wait
    REQUIRE(is_held(scene.ask("n:1")));
    scene.release("n:1");
  }
  CHECK(eventually([&] { return is_held(scene.ask("c:1")); }));
  CHECK(busy(scene.ask(Lock{waiting("b:1")})).position == 1);
}

TEST_CASE("a frozen waiter that a newcomer removes from the line gets its old place again") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
  const Listener frozen = scene.listener("b:1");
  const Listener next = scene.listener("c:1");
  const Listener last = scene.listener("d:1");
  scene.release("a:1");
  scene.told_earlier("b:1", 300);  // as if the message had been sent so long ago
  CHECK(is_held(scene.ask("c:1")));
  CHECK(scene.line() == "d:1");
  CHECK(busy(scene.ask(Lock{waiting("b:1")})).position == 1);
  CHECK(scene.line() == "b:1\nd:1");
}

TEST_CASE("a waiter whose notes were lost is told to ask again when a newcomer removes it from the line") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener without_notes = scene.listener("b:1");
  scene.server.cli({"HDEL", kLine + ":waiters", "b:1"});
  scene.server.del("deploy");
  CHECK(is_held(scene.ask(Lock{leaving("n:1")})));
  CHECK(without_notes.heard() == "0");
  CHECK(scene.line() == "c:1");
}
