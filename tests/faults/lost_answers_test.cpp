// Lost and late answers: no hold is counted twice, no abandoned acquire holds the lock, and the command's
// exit status stands.

#include <doctest/doctest.h>
#include <signal.h>

#include "faults/fault_line.h"
#include "support/contains.h"
#include "support/hello.h"

using namespace rlock::test;

namespace {

/// Makes the server know the scripts, as one that has been used for some time does.
void acquaint(FaultLine& line) {
  const auto nested = rlock_binary() + " run -k k -- true";
  CHECK(line.rlock({"run", "-k", "k", "-c", nested}).exit_code() == 0);
  REQUIRE(eventually([&] { return line.clean(); }));
}

/// How many writes the server has made when it has answered the first script with NOSCRIPT. The answer to HELLO
/// comes in the same write. A server without HELLO gets a second connection. The next write answers EVAL.
std::size_t greeting_and_noscript(FaultLine& line) { return knows_hello(line.redis) ? 1 : 2; }

}  // namespace

TEST_CASE("if the answer to an acquire is lost, rlock asks again, and holds once") {
  FaultLine line;
  line.proxy.drop_answers_after(greeting_and_noscript(line));
  StopWatch watch;
  auto rlock = line.hold({"--wait", "10s", "--command-timeout", "300ms"}, "for 300");
  REQUIRE(eventually([&] { return line.redis.has("k"); }));
  line.proxy.pass();
  REQUIRE(eventually([&] { return line.inside(); }));
  CHECK(held(line.redis));

  CHECK(rlock.exit_code() == 0);
  report("answer of the acquire lost once", "ran once, held once", 0, watch.elapsed());
  CHECK_FALSE_MESSAGE(contains(rlock.err(), "not ours"), rlock.err());
  CHECK(line.verdict().holds == 1);
  CHECK(eventually([&] { return line.clean(); }, 1s));
}

TEST_CASE("if the answer to an acquire is lost for the whole wait, rlock undoes the acquire") {
  FaultLine line;
  line.proxy.drop_answers_after(greeting_and_noscript(line));
  StopWatch watch;
  auto rlock = line.hold({"--wait", "1s"});

  const int status = rlock.exit_code();
  report("answer of the acquire lost for ever, --wait 1s", "given back", status, watch.elapsed());
  CHECK(status == 69);
  CHECK(line.verdict().holds == 0);
  CHECK(eventually([&] { return line.clean(); }, 1s));
}

TEST_CASE("an acquire that a frozen server executes late is undone by the undo written behind it") {
  FaultLine line;
  acquaint(line);
  line.redis.freeze();
  auto rlock = line.hold({"--wait", "1s"});
  CHECK(rlock.exit_code() == 69);
  line.redis.thaw();

  CHECK(eventually([&] { return line.clean(); }, 1s));
  CHECK(throughout([&] { return line.clean(); }, 300ms));
  CHECK(line.verdict().holds == 0);
}

TEST_CASE("an interrupted wait undoes its acquire although no answer came") {
  FaultLine line;
  line.proxy.drop_answers_after(greeting_and_noscript(line));
  auto rlock = line.hold({});
  REQUIRE(eventually([&] { return line.redis.has("k"); }));
  StopWatch watch;
  rlock.signal(SIGTERM);

  CHECK(rlock.exit_code() == 128 + SIGTERM);
  report("SIGTERM while the answer of the acquire is lost", "given back", 143, watch.elapsed());
  CHECK(watch.elapsed() < promised(2s));
  CHECK(eventually([&] { return line.clean(); }, 1s));
}

TEST_CASE("if the answer to a release is lost, the command's exit status stands") {
  FaultLine line;
  acquaint(line);
  auto rlock = line.hold({}, "for 300 exit 7");
  REQUIRE(eventually([&] { return line.inside(); }));
  line.proxy.drop(Way::to_client);
  StopWatch watch;

  CHECK(rlock.exit_code() == 7);
  report("answer of the release lost", "status stands, said on stderr", 7, watch.elapsed());
  CHECK(watch.elapsed() < promised(2s));
  CHECK(eventually([&] { return line.clean(); }, 1s));
  CHECK_MESSAGE(contains(rlock.err(), "not confirmed"), rlock.err());
}

TEST_CASE("a release that never arrives is reported, and the lock expires") {
  FaultLine line;
  acquaint(line);
  auto rlock = line.hold({"--lease", "2s"}, "for 100 exit 7");
  REQUIRE(eventually([&] { return line.inside(); }));
  line.proxy.drop(Way::to_server);
  StopWatch watch;

  CHECK(rlock.exit_code() == 7);
  report("release lost", "status stands, lock expires with the lease", 7, watch.elapsed());
  CHECK(watch.elapsed() < promised(2s));
  CHECK_MESSAGE(contains(rlock.err(), "it expires within"), rlock.err());
  CHECK(eventually([&] { return line.clean(); }, 2500ms));
}

TEST_CASE("if the answer to a nested release is lost, rlock gives back one hold, not two") {
  FaultLine line;
  acquaint(line);
  const auto inner = rlock_binary() + " run -k k -- sh -c 'echo inner; while [ ! -e " + (line.folder / "go") +
                     " ]; do sleep 0.01; done'";
  auto rlock = line.rlock({"run", "-k", "k", "--", "sh", "-c", inner + "; echo after; sleep 1"});
  REQUIRE(eventually([&] { return rlock.out() == "inner\n"; }));
  CHECK(held(line.redis, 2));
  line.proxy.drop(Way::to_client);
  write_file(line.folder / "go", "");
  REQUIRE(eventually([&] { return rlock.out() == "inner\nafter\n"; }));
  line.proxy.pass();

  CHECK(held(line.redis, 1));
  CHECK(rlock.exit_code() == 0);
  CHECK(eventually([&] { return line.clean(); }, 1s));
}

TEST_CASE("if the answer to a nested acquire is lost, rlock adds one hold, not two") {
  FaultLine line;
  acquaint(line);
  const auto inner =
      rlock_binary() + " run -k k --wait 10s --command-timeout 300ms -- sh -c 'echo inner; sleep 0.5'";
  auto rlock =
      line.rlock({"run", "-k", "k", "--", "sh", "-c",
                  "echo outer; while [ ! -e " + (line.folder / "go") + " ]; do sleep 0.01; done; " + inner});
  REQUIRE(eventually([&] { return rlock.out() == "outer\n"; }));
  line.proxy.drop(Way::to_client);
  write_file(line.folder / "go", "");
  REQUIRE(eventually([&] { return held(line.redis, 2); }));
  line.proxy.pass();
  REQUIRE(eventually([&] { return rlock.out() == "outer\ninner\n"; }));

  CHECK(held(line.redis, 2));
  CHECK(rlock.exit_code() == 0);
  CHECK(eventually([&] { return line.clean(); }, 1s));
}

TEST_CASE(
    "if the server pauses at the acquire, the renewal or the release, rlock waits, and counts no hold twice") {
  for (const std::string mode : {"WRITE", "ALL"}) {
    CAPTURE(mode);
    FaultLine line;
    RespClient operator_{line.redis.where()};
    const auto pause = [&] { operator_.ask({"CLIENT", "PAUSE", "700", mode}); };
    StopWatch watch;
    pause();
    auto rlock = line.hold({"--wait", "10s", "--lease", "3s", "--command-timeout", "300ms"}, "for 2500");
    REQUIRE(eventually([&] { return line.inside(); }));
    CHECK(held(line.redis));
    pause();
    std::this_thread::sleep_for(750ms);  // the length of the pause
    CHECK(held(line.redis));
    std::this_thread::sleep_for(1500ms);  // until shortly before the command ends
    pause();

    CHECK(rlock.exit_code() == 0);
    report("CLIENT PAUSE 700 " + mode + " at acquire, renewal, release", "ran once, held once", 0,
           watch.elapsed());
    CHECK(eventually([&] { return line.clean(); }, 2s));
    CHECK(line.verdict().holds == 1);
  }
}
