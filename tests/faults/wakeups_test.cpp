// Waiters wake up although announcements are lost.

#include <doctest/doctest.h>

#include <algorithm>

#include "faults/fault_line.h"
#include "support/contains.h"
#include "support/skipped.h"

using namespace rlock::test;

namespace {

/// With or without announcements, a waiter asks at least this often.
constexpr auto kPollCap = 2000ms;
const std::string kChannel = "redisson_lock__channel:{k}";

/// Takes the lock with a long lease: only its deletion frees the lock.
void occupy(RedisServer& redis) {
  redis.cli({"HSET", "k", "somebody:1", "1"});
  redis.cli({"PEXPIRE", "k", "600000"});
}

/// Frees the lock as Redisson does, with or without the announcement.
void vacate(RedisServer& redis, bool announced) {
  redis.del("k");
  if (announced) redis.cli({"PUBLISH", kChannel, "0"});
}

std::chrono::milliseconds time_to_enter(FaultLine& line, std::chrono::milliseconds deadline = 10s) {
  const StopWatch watch;
  REQUIRE(eventually([&] { return !read_stays(line.folder.path()).empty(); }, deadline));
  return watch.elapsed();
}

}  // namespace

TEST_CASE("an announced release is heard at once, an unannounced one at the next poll") {
  for (const bool announced : {true, false}) {
    CAPTURE(announced);
    FaultLine line;
    occupy(line.redis);
    auto rlock = line.hold({});
    REQUIRE(eventually([&] { return line.redis.listeners(kChannel) == 1; }));
    vacate(line.redis, announced);

    const auto time = time_to_enter(line);
    CHECK(time < promised(announced ? 300ms : kPollCap + 300ms));
    CHECK(rlock.exit_code() == 0);
    report(announced ? "release announced" : "release not announced", "next command starts", 0, time);
  }
}

TEST_CASE("a waiter gets the lock within the poll cap although its subscription is killed every 50 ms") {
  const int rounds = long_profile() ? 10 : 2;
  for (int round = 0; round < rounds; ++round) {
    FaultLine line;
    occupy(line.redis);
    auto rlock = line.hold({});
    REQUIRE(eventually([&] { return line.redis.listeners(kChannel) == 1; }));
    RespClient killer{line.redis.where()};
    const Again kills{50ms, [&] { killer.ask({"CLIENT", "KILL", "TYPE", "pubsub"}); }};
    std::this_thread::sleep_for(std::chrono::milliseconds{500 + 130 * round});
    vacate(line.redis, true);

    const auto time = time_to_enter(line);
    CHECK(time <= promised(kPollCap + 300ms));
    CHECK(rlock.exit_code() == 0);
    report("CLIENT KILL TYPE pubsub every 50 ms", "next command starts", 0, time);
  }
}

TEST_CASE("a release while the connection was down is found right after it is up again") {
  FaultLine line;
  occupy(line.redis);
  auto rlock = line.hold({});
  REQUIRE(eventually([&] { return line.redis.listeners(kChannel) == 1; }));
  line.proxy.refuse();
  line.proxy.reset_all();
  REQUIRE(eventually([&] { return line.redis.listeners(kChannel) == 0; }));
  vacate(line.redis, true);
  line.proxy.pass();

  const auto time = time_to_enter(line);
  CHECK(time < promised(1300ms));  // the pause between two attempts to connect
  CHECK(rlock.exit_code() == 0);
  report("released while the connection was down", "next command starts", 0, time);
}

TEST_CASE("a waiter gets the lock by its poll although its connection was silently forgotten") {
  FaultLine line;
  occupy(line.redis);
  auto rlock = line.hold({"--command-timeout", "500ms"});
  REQUIRE(eventually([&] { return line.redis.listeners(kChannel) == 1; }));
  line.proxy.forget();
  vacate(line.redis, true);

  const auto time = time_to_enter(line);
  CHECK(time < promised(kPollCap + 800ms));
  CHECK(rlock.exit_code() == 0);
  report("connection forgotten by a middle box", "next command starts", 0, time);
}

TEST_CASE("a waiter that may not subscribe polls, and says so once") {
  FaultLine line{{"user limited on nopass ~* resetchannels +@all"}};
  if (RedisServer::version() < 60200) return skipped("Redis before 6.2 has no channel permissions");
  occupy(line.redis);
  auto options = line.redis.environment();
  options.env["RLOCK_URL"] = "redis://limited:x@127.0.0.1:" + std::to_string(line.proxy.port());
  Words words{"run", "-k", "k", "--"};
  for (const auto& word : witness_command(line.folder.path())) words.push_back(word);
  Rlock rlock{words, options};
  REQUIRE(eventually([&] { return contains(rlock.err(), "refuses the subscription"); }));
  vacate(line.redis, false);

  const auto time = time_to_enter(line);
  CHECK(time < promised(kPollCap + 300ms));
  rlock.exit_code();
  report("subscribing not permitted", "next command starts", 0, time);
}

TEST_CASE("a lock without a TTL is waited for behind a line with faults, too") {
  FaultLine line;
  line.redis.cli({"HSET", "k", "somebody:1", "1"});
  auto rlock = line.hold({"--wait", "1500ms"});
  CHECK(rlock.exit_code() == 75);
  CHECK_MESSAGE(contains(rlock.err(), "TTL"), rlock.err());
  CHECK(line.redis.cli({"HGETALL", "k"}) == "somebody:1\n1");
}

TEST_CASE("rlock waits for a server that is loading its data, and then gets the lock") {
  FaultLine line{{"rdbcompression no", "key-load-delay 10000", "loading-process-events-interval-bytes 1024"}};
  for (int i = 0; i < 150; ++i) line.redis.cli({"SET", "filler" + std::to_string(i), std::string(100, 'x')});
  line.redis.cli({"SAVE"});
  line.redis.restart(RedisServer::Until::listens);
  if (!line.redis.cli({"PING"}).starts_with("(error) LOADING"))
    return skipped("this server does not load slowly");
  const StopWatch watch;
  auto rlock = line.hold({"--wait", "10s"});
  const int status = rlock.exit_code(15s);
  report("LOADING at the start, --wait 10s", "ran when it had loaded", status, watch.elapsed());
  CHECK_MESSAGE(status == 0, rlock.err());
}

TEST_CASE("a sleeping waiter sends nothing but a poll every two seconds") {
  FaultLine line;
  occupy(line.redis);
  Monitor monitor{line.redis};
  auto rlock = line.hold({});
  const auto asked_after_subscribing = [&] {
    const auto& all = monitor.commands();
    const auto is = [](const char* verb) {
      return [=](const auto& command) { return command.find(verb) == 1; };
    };
    const auto subscribed = std::ranges::find_if(all, is("SUBSCRIBE"));
    return std::any_of(subscribed, all.end(), is("EVALSHA"));
  };
  REQUIRE(eventually(asked_after_subscribing));
  const auto before = static_cast<std::ptrdiff_t>(monitor.commands().size());
  const auto span = long_profile() ? 20s : 5s;
  std::this_thread::sleep_for(span);
  // The waiter's facts are not counted, because they travel in the same write as an acquire. Nor are the calls of
  // the wait lines after 1 s and 5 s. Only the latter name the keys of the queue.
  const auto polls =
      std::count_if(monitor.commands().begin() + before, monitor.commands().end(), [](const auto& command) {
        return !contains(command, "rlock:meta:") && !contains(command, "redisson_lock_queue:") &&
               !contains(command, "PUBSUB");
      });
  CHECK(polls <= span / 2s + 1);
  vacate(line.redis, true);
  CHECK(rlock.exit_code() == 0);
}
