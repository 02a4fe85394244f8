// Readers and writers stand in one line. Readers that stand together go on together, and none passes a writer.

#include <doctest/doctest.h>

#include <list>
#include <string>

#include "support/line_scene.h"
#include "sync/kinds/read_write.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

TEST_CASE("readers do not pass a waiting writer, and the readers behind it are told together") {
  LineScene scene;
  const auto reader = [](const std::string& owner) { return ReadLock{waiting(owner)}; };
  const WriteLock writer{waiting("w:1")};
  const std::string channel = "redisson_rwlock:{deploy}";
  REQUIRE(is_held(scene.ask(reader("r:1"))));
  REQUIRE(is_held(scene.ask(reader("r:2"))));
  Listener of_writer{scene.server, Channel{channel + ":w:1"}};
  CHECK(busy(scene.ask(writer)).position == 1);
  CHECK(busy(scene.ask(reader("r:3"))).position == 2);
  CHECK(busy(scene.ask(reader("r:4"))).position == 3);
  CHECK(of_writer.heard().starts_with("1 "));  // asks the writer for a sign of life
  CHECK(of_writer.heard().starts_with("1 "));
  CHECK(is_held(scene.ask(reader("r:1"))));  // r:1 has a hold already

  Listener third{scene.server, Channel{channel + ":r:3"}};
  Listener fourth{scene.server, Channel{channel + ":r:4"}};
  scene.Scene::release(reader("r:1"));
  CHECK(of_writer.silence());
  scene.Scene::release(reader("r:2"));
  CHECK(of_writer.heard() == "0");
  CHECK(third.heard() == "2 0");
  CHECK(fourth.heard() == "3 0");
  CHECK(is_held(scene.ask(writer)));
  CHECK(third.heard().starts_with("1 "));
  CHECK(fourth.heard().starts_with("2 "));

  scene.Scene::release(writer);
  CHECK(third.heard() == "0");
  CHECK(fourth.heard() == "0");
  CHECK(is_held(scene.ask(reader("r:4"))));
  CHECK(is_held(scene.ask(reader("r:3"))));
  CHECK(scene.line().empty());
}

TEST_CASE("readers behind a writer that gives up are told at once if the holders read") {
  LineScene scene;
  const WriteLock writer{waiting("w:1")};
  const ReadLock second{waiting("r:2")};
  scene.ask(ReadLock{waiting("r:1")});
  const Listener of_writer{scene.server, Channel{"redisson_rwlock:{deploy}:w:1"}};
  scene.ask(writer);
  CHECK(is_busy(scene.ask(second)));
  Listener listener{scene.server, Channel{"redisson_rwlock:{deploy}:r:2"}};
  scene.undo(writer);
  CHECK(listener.heard().starts_with("1 "));
  CHECK(listener.heard() == "0");
  CHECK(is_held(scene.ask(second)));
}

TEST_CASE(
    "a writer that is frozen during its wait hinders readers beside reading holders for a moment only") {
  LineScene scene;
  const ReadLock second{waiting("r:2")};
  scene.ask(ReadLock{waiting("r:1")});
  Listener frozen{scene.server, Channel{"redisson_rwlock:{deploy}:w:1"}};
  scene.ask(WriteLock{waiting("w:1")});
  CHECK(busy(scene.ask(second)).retry_after <= Milliseconds{3010});  // in case the writer freezes now
  frozen.heard();
  CHECK(busy(scene.ask(ReadLock{waiting("r:3")})).retry_after <= Milliseconds{3210});  // or both do
  frozen.heard();
  scene.asked_earlier("w:1", -16000);  // as if it had asked in the fifth place, and moved up
  CHECK(busy(scene.ask(second)).retry_after <= Milliseconds{3010});
  frozen.heard();
  scene.asked_earlier("w:1", 3000);
  CHECK(is_busy(scene.ask(second)));
  CHECK(frozen.heard() == "0");  // it must ask now
  scene.told_earlier("w:1", 300);
  CHECK(is_held(scene.ask(second)));
}

TEST_CASE("a distant writer that readers took for frozen has a second to come from then on") {
  LineScene scene;
  const auto reader = [](const std::string& owner) { return ReadLock{waiting(owner)}; };
  const WriteLock writer{waiting("w:1")};
  const auto ask_again = [&] { return busy(writer.read(scene.redis.run(writer.ask(400ms)))).position; };
  const std::string channel = "redisson_rwlock:{deploy}";
  const Listener of_writer{scene.server, Channel{channel + ":w:1"}};
  const Listener second{scene.server, Channel{channel + ":r:2"}};
  const Listener third{scene.server, Channel{channel + ":r:3"}};
  scene.ask(reader("r:1"));
  scene.ask(writer);
  CHECK(ask_again() == 1);  // it has kept its place, so it is not far away
  REQUIRE(is_busy(scene.ask(reader("r:2"))));
  REQUIRE(is_busy(scene.ask(reader("r:3"))));
  scene.Scene::release(reader("r:1"));
  scene.told_earlier("w:1", 300);
  REQUIRE(is_held(scene.ask(reader("r:2"))));
  SUBCASE("another reader still waits when it asks again") {}
  SUBCASE("nobody waits any more when it asks again") {
    REQUIRE(is_held(scene.ask(reader("r:3"))));
    REQUIRE(scene.line().empty());
    scene.Scene::release(reader("r:3"));
  }
  CHECK(ask_again() == 1);
  CHECK(ask_again() == 1);

  scene.ask(reader("r:4"));
  scene.Scene::release(reader("r:2"));
  CHECK(busy(scene.ask(reader("r:4"))).retry_after > 900ms);
  scene.told_earlier("w:1", 900);
  CHECK(is_busy(scene.ask(reader("r:4"))));
  scene.told_earlier("w:1", 100);  // it is frozen after all
  CHECK(is_held(scene.ask(reader("r:4"))));
}

TEST_CASE("a reader that was told goes on at once, however many readers stand before it") {
  LineScene scene;
  const WriteLock writer{waiting("w:1")};
  scene.ask(writer);
  std::list<Listener> listeners;
  const auto reader = [](int number) { return ReadLock{waiting("r:" + std::to_string(number))}; };
  for (int i = 0; i < 20; ++i) {
    listeners.emplace_back(scene.server, Channel{"redisson_rwlock:{deploy}:r:" + std::to_string(i)});
    REQUIRE(is_busy(scene.ask(reader(i))));
  }
  scene.Scene::release(writer);
  CHECK(is_held(scene.ask(reader(19))));
}

TEST_CASE("a writer that was killed during its wait hinders no reader beside reading holders") {
  LineScene scene;
  scene.ask(ReadLock{waiting("r:1")});
  CHECK(busy(scene.ask(WriteLock{waiting("w:1")})).position == 1);
  CHECK(is_held(scene.ask(ReadLock{waiting("r:2")})));
  CHECK(scene.line().empty());
}

TEST_CASE(
    "readers that may go on after a lease's end, or after another client's release, are told by the first of them") {
  LineScene scene;
  const auto reader = [](const std::string& owner) { return ReadLock{waiting(owner)}; };
  const std::string channel = "redisson_rwlock:{deploy}";
  scene.ask(WriteLock{waiting("w:1")});
  Listener second{scene.server, Channel{channel + ":r:2"}};
  for (const char* owner : {"r:1", "r:2"}) CHECK(is_busy(scene.ask(reader(owner))));
  scene.server.cli({"DEL", "deploy"});  // as after a release by Redisson, or the end of a lease
  CHECK(is_held(scene.ask(reader("r:1"))));
  CHECK(second.heard().starts_with("1 "));
  CHECK(second.heard() == "0");
}
