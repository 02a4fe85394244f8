// rlock run --fair, as a user runs it.

#include <doctest/doctest.h>

#include <csignal>

#include "support/fair_scene.h"
#include "support/redis_server.h"
#include "support/unloaded_watch.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("rlock run --fair serves in the order of arrival") {
  FairScene scene;
  TempDir folder;
  const auto run = [&](const std::string& command) {
    return scene.server.rlock("run", "--fair", "-k", "deploy", "-c", command);
  };
  std::vector<Rlock> crowd;
  output_of({"mkfifo", folder / "gate"});
  crowd.push_back(run("read line < " + folder / "gate"));
  REQUIRE(eventually([&] { return scene.server.has("deploy"); }));
  for (std::size_t i = 0; i < 8; ++i) {
    crowd.push_back(run("echo " + std::to_string(i) + " >> " + folder / "order"));
    REQUIRE(eventually([&] { return scene.queue().size() == i + 1; }));
  }
  write_file(folder / "gate", "go\n");

  for (Rlock& each : crowd) CHECK(each.exit_code() == 0);
  CHECK(read_file(folder / "order") == "0\n1\n2\n3\n4\n5\n6\n7\n");
  CHECK(scene.server.keys().empty());
}

TEST_CASE("each end of a wait in the queue gives the place back") {
  FairScene scene;
  scene.ask("a:1");
  const auto wait_with = [&](const std::string& patience) {
    return scene.server.rlock("run", "--fair", "-k", "deploy", "-w", patience, "--", "true");
  };
  for (int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
    Rlock waiter = wait_with("forever");
    REQUIRE(eventually([&] { return scene.queue().size() == 1; }));
    waiter.signal(signal);
    waiter.exit_code();
    CHECK(scene.queue().empty());
  }
  Rlock waiter = wait_with("300ms");
  CHECK(eventually([&] { return scene.queue().size() == 1; }));
  CHECK(waiter.exit_code() == 75);
  CHECK(scene.queue().empty());
  CHECK_FALSE(scene.server.has(kWaiters));
}

TEST_CASE("a waiter that is killed delays the next by no more than two renewal intervals") {
  FairScene scene;
  scene.ask("a:1");
  const auto wait = [&] {
    return scene.server.rlock("run", "--fair", "--lease", "6s", "-k", "deploy", "--", "true");
  };
  Rlock first = wait();
  REQUIRE(eventually([&] { return scene.queue().size() == 1; }));
  Rlock second = wait();
  REQUIRE(eventually([&] { return scene.queue().size() == 2; }));
  first.signal(SIGKILL);
  first.exit_code();

  const UnloadedWatch watch{{scene.server.pid(), second.pid()}};
  scene.release("a:1");
  CHECK(watch.until_end_of(second.pid(), 30s) < 4s);
  CHECK(second.exit_code() == 0);
}

TEST_CASE(
    "a dead waiter of Redisson delays the next until its time is over, however long that one's lease is") {
  FairScene scene;
  auto dead = scene.peer("p:1", 2000);
  scene.ask(FairLock{claim("a:1", 3s)});
  REQUIRE_FALSE(dead.try_queued());
  Rlock waiter = scene.server.rlock("run", "--fair", "--lease", "1h", "-k", "deploy", "--", "true");
  const UnloadedWatch watch{{scene.server.pid(), waiter.pid()}};
  CHECK(watch.until_end_of(waiter.pid(), 20s) < 10s);
}
