#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <ctime>
#include <string>
#include <utility>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/unloaded_watch.h"

using namespace rlock::test;

TEST_CASE("a process ends with its status, its output and its signal") {
  Process shell{{"sh", "-c", "cat; echo talk >&2; exit 7"}, {.input = "data"}};

  CHECK(shell.exit_code() == 7);
  CHECK(shell.out() == "data");
  CHECK(shell.err() == "talk\n");

  Process sleeper{{"sleep", "60"}};
  sleeper.signal(15);
  CHECK(sleeper.exit_code() == 128 + 15);
}

TEST_CASE("a process that takes too long is an error that shows what it printed") {
  Process sleeper{{"sh", "-c", "echo here I am; sleep 60"}};
  REQUIRE(eventually([&] { return !sleeper.out().empty(); }));

  CHECK_THROWS_WITH(sleeper.exit_code(1ms), doctest::Contains("here I am"));
}

TEST_CASE("nothing that a process has started survives it") {
  pid_t orphan = 0;
  {
    Process shell{{"sh", "-c", "setsid sleep 60 & echo $!; wait"}};
    REQUIRE(eventually([&] { return !shell.out().empty() && shell.family().size() == 2; }));
    orphan = std::stoi(shell.out());
    CHECK(alive(orphan));
  }
  CHECK(eventually([&] { return !alive(orphan); }));
}

TEST_CASE("a server answers, freezes, thaws, ends and starts again") {
  RedisServer redis{{.tcp = true, .config = {"appendonly yes", "appendfsync always"}}};
  CHECK(redis.cli({"SET", "k", "v"}) == "OK");
  CHECK(redis.has("k"));
  CHECK(redis.keys() == "k\n");
  CHECK(RespClient{"127.0.0.1:" + std::to_string(redis.port())}.ask({"GET", "k"}) == "v");

  redis.freeze();
  RespClient impatient{redis.where(), 20ms};
  CHECK_THROWS(impatient.ask({"PING"}));
  redis.thaw();
  CHECK(redis.cli({"PING"}) == "PONG");

  redis.restart();
  CHECK(redis.cli({"GET", "k"}) == "v");
  redis.del("k");
  CHECK(redis.cli({"GET", "k"}) == "");
}

TEST_CASE("the monitor shows the commands that a server receives") {
  RedisServer redis;
  Monitor monitor{redis};

  redis.cli({"SET", "k", "v"});

  CHECK(monitor.commands() == Words{R"("SET" "k" "v")"});
}

TEST_CASE("a terminal takes keys and shows their effects") {
  Pty shell{{"cat"}, {}};
  shell.type("hello\n");
  shell.expect("hello\r\nhello\r\n");

  shell.type(Pty::kInterrupt);
  CHECK(shell.exit_code() == 128 + 2);
}

TEST_CASE("an unloaded watch leaves out the time without a processor") {
  cpu_set_t all, one;
  REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (int number = 0; CPU_COUNT(&one) == 0; ++number)
    if (CPU_ISSET(number, &all)) CPU_SET(number, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  {
    const std::string spin = "while :; do :; done";
    Process others[] = {Process{{"sh", "-c", spin}}, Process{{"sh", "-c", spin}},
                        Process{{"sh", "-c", spin}}};
    const UnloadedWatch watch{{::getpid()}};
    const StopWatch wall;
    for (const auto start = std::clock(); std::clock() - start < CLOCKS_PER_SEC / 5;) continue;

    CHECK(watch.elapsed() >= 190ms);
    CHECK(3 * watch.elapsed() < 2 * wall.elapsed());
  }
  ::sched_setaffinity(0, sizeof all, &all);
}

TEST_CASE("an unloaded watch counts the time in which a process waits for anything else") {
  Process sleeper{{"sleep", "0.2"}};
  const UnloadedWatch watch{{sleeper.pid()}};

  CHECK(watch.until_end_of(sleeper.pid(), 30s) > 0ms);
  CHECK_FALSE(alive(sleeper.pid()));
  CHECK(sleeper.exit_code() == 0);
}

TEST_CASE("nothing of this is allowed here" * doctest::skip()) { skipped("it is an example"); }

TEST_CASE("something of this is allowed here" * doctest::skip()) {
  CHECK(::getpid() > 0);
  skipped("it is an example, too");
}

TEST_CASE(
    "skipped() prints its reason, and if no test case proved anything, the test program exits with 77") {
  const auto ran = [](const char* cases) {
    Process self{{"/proc/" + std::to_string(::getpid()) + "/exe", "--no-skip",
                  "-tc=" + std::string{cases} + " of this is allowed here"}};
    const int status = self.exit_code();
    return std::pair{status, self.out()};
  };
  const auto [nothing, why] = ran("nothing");
  CHECK(nothing == 77);
  CHECK(contains(why, "skipped: nothing of this is allowed here: it is an example\n"));
  const auto [something, said] = ran("something");
  CHECK(something == 0);
  CHECK(contains(said, "skipped: something of this is allowed here: it is an example, too\n"));
  CHECK(ran("*thing").first == 0);
}
