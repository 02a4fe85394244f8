// Faults while the command runs: a fault must not harm the command, and rlock stops it before its lock can
// end.

#include <doctest/doctest.h>

#include <list>

#include "faults/fault_line.h"

using namespace rlock::test;

namespace {

constexpr auto kLease = 3s;
const Words kShort{"--lease", "3s", "--wait", "10s", "--connect-timeout", "300ms"};

/// The time from `moment` to the witness's last sign of life.
std::chrono::milliseconds lived_on(const FaultLine& line, long long moment) {
  const auto stays = read_stays(line.folder.path());
  return std::chrono::milliseconds{(stays.back().exit - moment) / 1'000'000};
}

/// A fault begins while the lock is held. The command must be stopped before the lease of the last renewal
/// can have ended.
void check_stopped_in_time(
    const std::string& name, const std::function<void(FaultLine&)>& begin,
    const std::function<void(FaultLine&)>& end = [](FaultLine&) {}) {
  CAPTURE(name);
  FaultLine line;
  auto rlock = line.hold(kShort, "for 60000");
  REQUIRE(eventually([&] { return line.inside(); }));
  const auto moment = boottime_ns();
  const StopWatch watch;
  begin(line);

  const int status = rlock.exit_code(20s);
  report(name, "stopped after " + std::to_string(lived_on(line, moment).count()) + " ms", status,
         watch.elapsed());
  CAPTURE(rlock.err());
  CHECK(status == 125);
  CHECK(lived_on(line, moment) < kLease);
  CHECK(lived_on(line, moment) > 1s);  // the lease bridges the first second
  end(line);
  line.proxy.pass();
  CHECK(eventually([&] { return line.clean(); }, kLease + 500ms));
}

/// The lock is changed while it is held. The holder must learn of the change at its next renewal. With --no-renew,
/// it must learn of it when it next asks whether the lock is still its own.
void check_stopped_soon(const std::string& name, const std::function<void(FaultLine&)>& deed,
                        const std::string& then) {
  for (const bool renews : {true, false}) {
    CAPTURE(name);
    CAPTURE(renews);
    Words options = kShort;
    if (!renews) options.emplace_back("--no-renew");
    FaultLine line;
    auto rlock = line.hold(options, "for 60000");
    REQUIRE(eventually([&] { return line.inside(); }));
    const auto moment = boottime_ns();
    const StopWatch watch;
    deed(line);

    const int status = rlock.exit_code();
    report(name, "stopped after " + std::to_string(lived_on(line, moment).count()) + " ms", status,
           watch.elapsed());
    CAPTURE(rlock.err());
    CHECK(status == 125);
    CHECK(lived_on(line, moment) < promised(kLease / 3 + 300ms));
    CHECK(line.redis.cli({"HGETALL", "k"}) == then);
  }
}

/// A fault that a holder must survive: the command ends by itself, its lock is held all the time and counted
/// once.
void check_survived(const std::string& name, const std::function<void(FaultLine&)>& deed,
                    const Words& options = kShort) {
  CAPTURE(name);
  FaultLine line;
  auto rlock = line.hold(options, "for 5000 exit 7");
  REQUIRE(eventually([&] { return line.inside(); }));
  const StopWatch watch;
  deed(line);

  const int status = rlock.exit_code(15s);
  report(name, "command unharmed", status, watch.elapsed());
  CAPTURE(rlock.err());
  CHECK(status == 7);
  CHECK(line.verdict().unfinished == 0);
  CHECK(eventually([&] { return line.clean(); }, 2s));
}

void steal(RedisServer& redis) {
  redis.cli({"MULTI"});
  redis.cli({"DEL", "k"});
  redis.cli({"HSET", "k", "thief:1", "1"});
  redis.cli({"PEXPIRE", "k", "60000"});
  redis.cli({"EXEC"});
}

}  // namespace

TEST_CASE("the command is stopped before its lock can end: the server is frozen") {
  check_stopped_in_time(
      "server frozen while held", [](FaultLine& l) { l.redis.freeze(); },
      [](FaultLine& l) { l.redis.thaw(); });
}

TEST_CASE("the command is stopped before its lock can end: the server is killed") {
  check_stopped_in_time(
      "server killed while held", [](FaultLine& l) { l.redis.kill(); },
      [](FaultLine& l) { l.redis.restart(); });
}

TEST_CASE("the command is stopped before its lock can end: questions are lost") {
  check_stopped_in_time("questions lost while held", [](FaultLine& l) { l.proxy.drop(Way::to_server); });
}

TEST_CASE("the command is stopped before its lock can end: answers are lost") {
  check_stopped_in_time("answers lost while held", [](FaultLine& l) { l.proxy.drop(Way::to_client); });
}

TEST_CASE("the command is stopped before its lock can end: answers come too late") {
  check_stopped_in_time("answers 5 s late while held",
                        [](FaultLine& l) { l.proxy.delay(Way::to_client, 5s); });
}

TEST_CASE("the command is stopped before its lock can end: the port is closed") {
  check_stopped_in_time("connection reset, port closed",
                        [](FaultLine& l) { l.proxy.refuse(), l.proxy.reset_all(); });
}

TEST_CASE("the command is stopped before its lock can end: garbage for ever") {
  check_stopped_in_time("flooded with garbage while held",
                        [](FaultLine& l) { l.proxy.flood("$536870912\r\n"); });
}

TEST_CASE("the command is stopped before its lock can end: a script that never ends") {
  check_stopped_in_time(
      "script runs for ever on the server",
      [](FaultLine& l) { RespClient{l.redis.where()}.send({"EVAL", "while true do end", "0"}); },
      [](FaultLine& l) { CHECK(RespClient{l.redis.where(), 10s}.ask({"SCRIPT", "KILL"}) == "OK"); });
}

TEST_CASE("the command is stopped before its lock can end: the server refuses writes (MISCONF)") {
  check_stopped_in_time(
      "MISCONF while held",
      [](FaultLine& l) {
        TempDir gone;
        l.redis.cli({"CONFIG", "SET", "save", "3600 1"});
        l.redis.cli({"CONFIG", "SET", "dir", gone.path()});
        std::system(("rmdir " + gone.path()).c_str());
        l.redis.cli({"BGSAVE"});
        CHECK(eventually([&] { return l.redis.cli({"SET", "x", "1"}).starts_with("(error) MISCONF"); }));
      },
      [](FaultLine& l) { l.redis.cli({"CONFIG", "SET", "save", ""}); });
}

TEST_CASE("the command is stopped when another client deletes the lock") {
  check_stopped_soon("DEL while held", [](FaultLine& l) { l.redis.del("k"); }, "");
}

TEST_CASE("the command is stopped when another client flushes the database") {
  check_stopped_soon("FLUSHALL while held", [](FaultLine& l) { l.redis.cli({"FLUSHALL"}); }, "");
}

TEST_CASE("the command is stopped when the lock is stolen, and the thief's lock is untouched") {
  check_stopped_soon("lock stolen while held", [](FaultLine& l) { steal(l.redis); }, "thief:1\n1");
}

TEST_CASE("the thief's lock keeps its lease") {
  FaultLine line;
  auto rlock = line.hold(kShort, "for 60000");
  REQUIRE(eventually([&] { return line.inside(); }));
  steal(line.redis);
  CHECK(rlock.exit_code() == 125);
  CHECK(line.redis.pttl("k") > 50000);
  CHECK(line.redis.pttl("k") < 60000);
}

TEST_CASE("a waiter gets a lock that was flushed away, and the first holder leaves it alone") {
  FaultLine line;
  auto first = line.hold(kShort, "for 60000 as first");
  REQUIRE(eventually([&] { return line.inside(); }));
  auto second = line.hold(kShort, "for 2000 as second");
  REQUIRE(eventually([&] { return line.redis.listeners("redisson_lock__channel:{k}") == 1; }));
  const StopWatch watch;
  line.redis.cli({"FLUSHALL"});

  CHECK(first.exit_code() == 125);
  CHECK(second.exit_code() == 0);
  const auto verdict = line.verdict();
  report("FLUSHALL while held, another waits",
         "overlap " + std::to_string(verdict.longest.count() / 1000) + " ms", 125, watch.elapsed());
  CHECK(verdict.holds == 2);
  // Until the next renewal, a command's timeout, and the grace.
  CHECK(verdict.longest < promised(1000ms + 500ms + 500ms));
  CHECK(eventually([&] { return line.clean(); }, 1s));
}

TEST_CASE("a holder survives a server that sleeps less than its lease") {
  check_survived("server sleeps 1.2 s",
                 [](FaultLine& l) { RespClient{l.redis.where()}.send({"DEBUG", "SLEEP", "1.2"}); });
}

TEST_CASE("a holder with a lease of 3 s survives a line on which each answer takes 300 ms") {
  // Not --connect-timeout 300ms: then no new connection could be greeted in time, and one late answer would be a loss.
  check_survived(
      "300 ms of latency",
      [](FaultLine& l) { l.proxy.delay(Way::to_server, 150ms), l.proxy.delay(Way::to_client, 150ms); },
      {"--lease", "3s", "--wait", "10s"});
}

TEST_CASE("a holder survives one lost renewal") {
  check_survived("answers lost for 1.3 s", [](FaultLine& l) {
    l.proxy.drop(Way::to_client);
    std::this_thread::sleep_for(1300ms);  // the length of the fault: one renewal, and no more, falls into it
    l.proxy.pass();
    CHECK(eventually([&] { return l.redis.pttl("k") > 2500; }));
    CHECK(held(l.redis));
  });
}

TEST_CASE("a holder survives resets, cuts and a closed port that opens again") {
  check_survived("reset every 100 ms for 3 s", [](FaultLine& l) {
    const Again resets{100ms, [&] { l.proxy.reset_all(); }};
    std::this_thread::sleep_for(3s);
  });
  check_survived("port closed for 1 s", [](FaultLine& l) {
    l.proxy.refuse();
    l.proxy.reset_all();
    std::this_thread::sleep_for(1s);
    l.proxy.pass();
  });
}

TEST_CASE("a holder survives clients being killed, with few new connections") {
  FaultLine line;
  auto rlock = line.hold(kShort, "for 5000");
  REQUIRE(eventually([&] { return line.inside(); }));
  const auto before = line.proxy.connections();
  const StopWatch watch;
  {
    RespClient killer{line.redis.where()};
    const Again kills{50ms, [&] { killer.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}); }};
    std::this_thread::sleep_for(4s);
  }
  const auto connections = line.proxy.connections() - before;
  CHECK(rlock.exit_code(15s) == 0);
  report("CLIENT KILL TYPE normal every 50 ms for 4 s", std::to_string(connections) + " new connections", 0,
         watch.elapsed());
  CHECK(connections <= 4 * 20);
  CHECK(eventually([&] { return line.clean(); }, 2s));
}

TEST_CASE("a holder and its waiters do not notice that scripts are flushed") {
  FaultLine line;
  const StopWatch watch;
  const Again flushes{10ms, [client = std::make_shared<RespClient>(line.redis.where())] {
                        client->ask({"SCRIPT", "FLUSH"});
                      }};
  for (int run = 0; run < 5; ++run) {
    auto rlock = line.hold(kShort, "for 1200");
    CHECK(rlock.exit_code() == 0);
    CHECK(rlock.err().empty());
  }
  report("SCRIPT FLUSH every 10 ms", "not noticed", 0, watch.elapsed());
  CHECK(line.verdict().clean());
}

TEST_CASE("a server that wakes up after the lease does not bring the lock back") {
  FaultLine line;
  auto rlock = line.hold(kShort, "for 60000");
  REQUIRE(eventually([&] { return line.inside(); }));
  const auto moment = boottime_ns();
  const StopWatch watch;
  RespClient sleeper{line.redis.where(), 20s};
  sleeper.send({"DEBUG", "SLEEP", "5"});

  CHECK(rlock.exit_code() == 125);
  report("server sleeps 5 s", "stopped after " + std::to_string(lived_on(line, moment).count()) + " ms", 125,
         watch.elapsed());
  CHECK(lived_on(line, moment) < kLease);
  sleeper.receive();
  CHECK(eventually([&] { return line.clean(); }, 500ms));
  CHECK(throughout([&] { return line.clean(); }, 300ms));
}

TEST_CASE("a holder releases although the server has no memory left") {
  FaultLine line;
  auto rlock = line.hold(kShort, "for 500 exit 7");
  REQUIRE(eventually([&] { return line.inside(); }));
  line.redis.cli({"CONFIG", "SET", "maxmemory", "1"});
  CHECK(rlock.exit_code() == 7);
  report("maxmemory 1 while held", "released", 7, 500ms);
  CHECK(eventually([&] { return line.clean(); }, kLease + 500ms));
}

TEST_CASE("holders of each type renew and release although the server has no memory left") {
  RedisServer redis;
  std::list<Rlock> holders;
  for (const Words& type : {Words{"--type", "lock"},
                            {"--fair"},
                            {"--fenced"},
                            {"--read"},
                            {"--write"},
                            {"--type", "plain"},
                            {"--permits", "2"}}) {
    Words words{"run", "--lease", "3s", "-k", "k" + std::to_string(holders.size())};
    words.insert(words.end(), type.begin(), type.end());
    words.insert(words.end(), {"--", "sh", "-c", "echo inside; sleep 4; exit 7"});
    holders.emplace_back(words, redis.environment());
  }
  for (Rlock& rlock : holders) REQUIRE(eventually([&] { return rlock.out() == "inside\n"; }));
  redis.cli({"CONFIG", "SET", "maxmemory", "1"});
  for (Rlock& rlock : holders) {
    CHECK(rlock.exit_code(20s) == 7);
    CHECK_MESSAGE(rlock.err().empty(), rlock.err());
  }
  for (int i = 0; i < 6; ++i) CHECK_FALSE(redis.has("k" + std::to_string(i)));
  CHECK(redis.cli({"GET", "k6"}) == "2");
  report("maxmemory 1 while held, every type", "renewed, released", 7, 4s);
}

TEST_CASE("a holder survives a restart of the server with its data") {
  FaultLine line{{"appendonly yes", "appendfsync always"}};
  auto rlock = line.hold(kShort, "for 4000 exit 7");
  REQUIRE(eventually([&] { return line.inside(); }));
  line.redis.restart();
  CHECK(rlock.exit_code(15s) == 7);
  report("server killed and restarted with its AOF", "command unharmed", 7, 4s);
  CHECK(eventually([&] { return line.clean(); }, 1s));
}

TEST_CASE("a server that is restarted without its data stops the command") {
  check_stopped_soon("server killed and restarted empty", [](FaultLine& l) { l.redis.restart(); }, "");
}
