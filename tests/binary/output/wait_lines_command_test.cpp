// The lines for a waiter, as a person sees them: on USR1, while the holder changes, and when the wait ends.

#include <doctest/doctest.h>

#include <csignal>

#include "base/text.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fair_scene.h"
#include "support/figures.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/unloaded_watch.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// How long a USR1 stays unanswered: the median of five.
std::chrono::milliseconds answer_time(const RedisServer& redis, Rlock& waiter) {
  std::vector<std::chrono::milliseconds> times;
  for (int i = 0; i < 5; ++i) {
    const std::size_t before = lines_in(waiter.err());
    const UnloadedWatch watch{{redis.pid(), waiter.pid()}};
    waiter.signal(SIGUSR1);
    REQUIRE(eventually([&] { return lines_in(waiter.err()) > before; }));
    times.push_back(watch.elapsed());
  }
  return median(times);
}

/// True: rlock handles its signals. Before that a signal would end it.
bool takes_signals(const Rlock& process) {
  const auto blocked = [&] {
    const std::string status = read_file("/proc/" + std::to_string(process.pid()) + "/status");
    const auto at = status.find("SigBlk:");
    return status.starts_with("Name:\trlock\n") && at != std::string::npos &&
           (std::stoull(status.substr(at + 7), nullptr, 16) & (1U << (SIGUSR1 - 1))) != 0;
  };
  return eventually(blocked);
}

bool listens(RedisServer& redis, const std::string& key, int count = 1) {
  return eventually([&] { return redis.listeners("redisson_lock__channel:{" + key + "}") == count; });
}

}  // namespace

TEST_CASE("USR1 to a waiter is answered within 100 ms, and never reaches its command") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  Rlock waiter = redis.rlock("run", "-q", "-k", "deploy", "--", "sh", "-c", "sleep 0.2; echo done");
  REQUIRE(listens(redis, "deploy"));

  CHECK(answer_time(redis, waiter) < 100ms);
  CHECK(contains(waiter.err(), "rlock: waiting for 'deploy': held by "));
  REQUIRE(status_of(redis, {"lock", "release", "deploy", "--owner", owner}) == 0);

  CHECK(waiter.exit_code() == 0);
  CHECK(waiter.out() == "done\n");
}

TEST_CASE(
    "USR1 is answered within 100 ms while the server is frozen, with the last known state, and the wait goes on") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  Rlock waiter = redis.rlock("run", "-q", "-k", "deploy", "--", "true");
  REQUIRE(listens(redis, "deploy"));
  redis.freeze();

  CHECK(answer_time(redis, waiter) < 100ms);
  CHECK(contains(waiter.err(), "rlock: waiting for 'deploy': held by "));
  redis.thaw();

  REQUIRE(status_of(redis, {"lock", "release", "deploy", "--owner", owner}) == 0);
  CHECK(waiter.exit_code() == 0);
}

TEST_CASE("USR1 to a waiter for the server itself is answered within 100 ms") {
  RedisServer redis;
  redis.freeze();
  Rlock waiter = redis.rlock("run", "-q", "-w", "forever", "-k", "deploy", "--", "true");
  REQUIRE(takes_signals(waiter));

  CHECK(answer_time(redis, waiter) < 100ms);
  CHECK(contains(waiter.err(), "rlock: waiting for redis at "));
  redis.thaw();
  CHECK(waiter.exit_code() == 0);
}

TEST_CASE(
    "a wait line asks nothing while the grant waits for replicas: the question would wait behind that") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  Rlock waiter = redis.rlock("run", "-k", "deploy", "-w", "1m", "--lease", "1m", "--sync-replicas", "1",
                             "--sync-timeout", "15s", "--command-timeout", "200ms", "--", "true");
  REQUIRE(listens(redis, "deploy"));
  REQUIRE(status_of(redis, {"lock", "release", "deploy", "--owner", owner}) == 0);
  const auto connections = [&](const std::string& command) {
    const std::string clients = redis.cli({"CLIENT", "LIST"});
    std::size_t count = 0;
    for (const std::string& client : split(clients, '\n')) count += contains(client, command) ? 1 : 0;
    return count;
  };
  REQUIRE(eventually([&] { return connections("cmd=wait ") == 1; }));
  const std::size_t before = connections("name=rlock"), lines = lines_in(waiter.err());
  waiter.signal(SIGUSR1);
  REQUIRE(eventually([&] { return lines_in(waiter.err()) > lines; }));
  CHECK(throughout([&] { return connections("name=rlock") == before && connections("cmd=wait ") == 1; }, 1s));
  CHECK_MESSAGE(contains(waiter.err(), "replica"), waiter.err());
  waiter.signal(SIGTERM);
  CHECK(waiter.exit_code() == 128 + SIGTERM);
}

TEST_CASE("a fair wait line names the holder of now, and no rlock that has gone") {
  FairScene scene;
  RedisServer& redis = scene.server;
  TempDir folder;
  output_of({"mkfifo", folder / "gate"});
  const auto run = [&](const std::string& reason, const std::string& command) {
    return redis.rlock("run", "-q", "--fair", "--reason", reason, "-k", "deploy", "-c", command);
  };
  Rlock first = run("the first", "read line < " + folder / "gate");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{deploy}"); }));
  Rlock second = run("the second", "sleep 60");
  REQUIRE(eventually([&] { return scene.queue().size() == 1; }));
  Rlock third = run("the third", "true");
  REQUIRE(eventually([&] { return scene.lines({"PUBSUB", "CHANNELS", kChannel + "*"}).size() == 2; }));
  third.signal(SIGUSR1);
  REQUIRE(eventually([&] { return contains(third.err(), "\"the first\""); }));

  write_file(folder / "gate", "go\n");
  CHECK(first.exit_code() == 0);
  REQUIRE(eventually([&] { return contains(redis.cli({"HVALS", "rlock:meta:{deploy}"}), "the second"); }));
  third.signal(SIGUSR1);
  CHECK(eventually([&] { return contains(third.err(), "\"the second\""); }));
  CHECK_FALSE(contains(third.err(), "Redisson"));
}

TEST_CASE("an owner id of rlock is never called a Redisson client, even without facts") {
  RedisServer redis;
  acquired(redis, "deploy");
  redis.del("rlock:meta:{deploy}");
  Rlock vain = redis.rlock("run", "-n", "-k", "deploy", "--", "true");
  CHECK(vain.exit_code() == 75);
  CHECK(contains(vain.err(), "'deploy' is held by "));
  CHECK_FALSE(contains(vain.err(), "Redisson"));
  Rlock inspect = redis.rlock("inspect", "deploy");
  CHECK(inspect.exit_code() == 0);
  CHECK_FALSE(contains(inspect.out(), "Redisson"));
}

TEST_CASE("the remedy unlock is printed only for a stale lock") {
  RedisServer redis;
  Rlock held = redis.rlock("run", "--lease", "10s", "-k", "deploy", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{deploy}"); }));
  Rlock alive = redis.rlock("run", "-n", "-k", "deploy", "--", "true");
  CHECK(alive.exit_code() == 75);
  CHECK(contains(alive.err(), "'deploy' is held by "));
  CHECK_FALSE(contains(alive.err(), "unlock"));

  held.signal(SIGSTOP);
  const auto looks_dead = [&] {
    Rlock inspect = redis.rlock("inspect", "deploy");
    return inspect.exit_code() == 0 && contains(inspect.out(), "looks dead");
  };
  REQUIRE(eventually(looks_dead, 20s));
  Rlock waiter = redis.rlock("run", "-w", "500ms", "-k", "deploy", "--", "true");
  CHECK(waiter.exit_code() == 75);
  CHECK(gave_up_after(waiter.err()) >= 0.5);
  CHECK(contains(waiter.err(), "s: 'deploy' is held by "));
  CHECK(contains(waiter.err(), "; not renewed for "));
  CHECK(contains(waiter.err(), ": the holder looks dead; expires in "));
  CHECK(contains(waiter.err(), "\nrlock: if the holder is dead, remove the lock: rlock unlock deploy\n"));
  Rlock inspect = redis.rlock("inspect", "deploy");
  CHECK(inspect.exit_code() == 0);
  CHECK(contains(inspect.out(), ", not renewed for "));
  CHECK(contains(inspect.out(), ": the holder looks dead; expires in "));
  held.signal(SIGKILL);
}

TEST_CASE("a key without TTL is stale, and unlock accepts its remedy") {
  RedisServer redis;
  redis.cli({"HSET", "theirs", "6e0f0261-922f-4ca9-9275-5cd246e2e294:57", "1"});
  Rlock vain = redis.rlock("run", "-n", "-k", "theirs", "--", "true");
  CHECK(vain.exit_code() == 75);
  CHECK(contains(vain.err(), "held by 6e0f02...:57 (a Redisson client); no TTL: the key never expires\n"));
  CHECK(contains(vain.err(), "rlock: if the holder is dead, remove the lock: rlock unlock theirs\n"));
  CHECK(status_of(redis, {"unlock", "--yes", "theirs"}) == 0);
}

TEST_CASE("a signal that ends a wait is followed by one line about the lock") {
  RedisServer redis;
  acquired(redis, "deploy");
  for (const int number : {SIGTERM, SIGINT}) {
    Rlock waiter = redis.rlock("run", "-k", "deploy", "--", "true");
    Rlock quiet = redis.rlock("run", "-q", "-k", "deploy", "--", "true");
    Rlock acquire = redis.rlock("lock", "acquire", "--lease", "1m", "deploy");
    REQUIRE(eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{deploy}:line"}) == "3"; }));
    // Each waiter listens after its first answer: two of them on the key's channel, and all three on one of
    // their own.
    REQUIRE(listens(redis, "deploy", 2));
    REQUIRE(eventually([&] {
      return rlock::split(redis.cli({"PUBSUB", "CHANNELS", "redisson_lock__channel:{deploy}:?*"}), '\n')
                 .size() == 3;
    }));
    for (Rlock* one : {&waiter, &quiet, &acquire}) one->signal(number);
    CHECK(waiter.exit_code() == 128 + number);
    CHECK(lines_in(waiter.err()) == 1);
    CHECK(contains(waiter.err(), number == SIGTERM ? "rlock: SIGTERM after " : "rlock: SIGINT after "));
    CHECK(contains(waiter.err(), ": 'deploy' is held by "));
    CHECK(acquire.exit_code() == 128 + number);
    CHECK(contains(acquire.err(), ": 'deploy' is held by "));
    CHECK(quiet.exit_code() == 128 + number);
    CHECK(quiet.err().empty());
  }
}

TEST_CASE("a signal that ends a wait for the server, for permits or for a latch says so, too") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"permit", "init", "seats", "1"}) == 0);
  REQUIRE(status_of(redis, {"permit", "acquire", "seats", "--lease", "1m"}) == 0);
  REQUIRE(status_of(redis, {"latch", "set", "built", "1"}) == 0);
  Rlock seat = redis.rlock("permit", "acquire", "seats", "--lease", "1m");
  Rlock latch = redis.rlock("latch", "wait", "built");
  REQUIRE(eventually([&] { return redis.listeners("redisson_sc:{seats}") == 1; }));
  REQUIRE(eventually([&] { return redis.listeners("redisson_countdownlatch__channel__{built}") == 1; }));
  seat.signal(SIGTERM);
  latch.signal(SIGTERM);
  CHECK(seat.exit_code() == 128 + SIGTERM);
  CHECK(contains(seat.err(), "rlock: SIGTERM after "));
  CHECK(contains(seat.err(), ": 'seats': too few of its permits are free, or others wait for them"));
  CHECK(latch.exit_code() == 128 + SIGTERM);
  CHECK(contains(latch.err(), ": 'built': it is still closed"));

  redis.freeze();
  Rlock away = redis.rlock("run", "-w", "forever", "-k", "k", "--", "true");
  REQUIRE(takes_signals(away));
  away.signal(SIGTERM);
  CHECK(away.exit_code() == 128 + SIGTERM);
  CHECK(contains(away.err(), "rlock: SIGTERM after "));
  CHECK(contains(away.err(), "waiting for redis at "));
  redis.thaw();
}

TEST_CASE("a wait line says that a latch or semaphore does not exist, and counts one client as one") {
  RedisServer redis;
  Rlock latch = redis.rlock("latch", "wait", "built", "--await-set");
  Rlock slots = redis.rlock("sem", "acquire", "slots", "--await-init");
  REQUIRE(eventually([&] { return redis.listeners("redisson_countdownlatch__channel__{built}") == 1; }));
  REQUIRE(eventually([&] { return redis.has("redisson_unlock_latch:{slots}:line"); }));
  latch.signal(SIGUSR1);
  slots.signal(SIGUSR1);
  CHECK(eventually([&] {
    return contains(latch.err(), "rlock: waiting for 'built': it does not exist; 1 client waits\n");
  }));
  CHECK(eventually(
      [&] { return contains(slots.err(), "rlock: waiting for 'slots': it does not exist; 1st of 1 "); }));
  REQUIRE(status_of(redis, {"latch", "set", "built", "1"}) == 0);
  REQUIRE(eventually([&] {
    latch.signal(SIGUSR1);
    return contains(latch.err(), "rlock: waiting for 'built': it is still closed; 1 client waits\n");
  }));
  CHECK(status_of(redis, {"latch", "down", "built"}) == 0);
  CHECK(latch.exit_code() == 0);
  for (const Words& words : {Words{"latch", "wait", "other", "--await-set", "-w", "200ms"},
                             Words{"sem", "acquire", "other", "--await-init", "-w", "200ms"}}) {
    Rlock vain{words, redis.environment()};
    CHECK(vain.exit_code() == 75);
    CHECK_MESSAGE(contains(vain.err(), ": 'other': it does not exist"), vain.err());
  }
}

TEST_CASE("a waiter for a plain lock or a permit prints its lines when they are due, and not each second") {
  for (const Words& type : {Words{"--type", "plain"}, Words{"--permits", "1"}}) {
    CAPTURE(type.front());
    RedisServer redis;
    const auto run = [&](const Words& command) {
      Words words{"run", "-k", "deploy"};
      for (const Words& more : {type, {"--"}, command}) words.insert(words.end(), more.begin(), more.end());
      return Rlock{words, redis.environment()};
    };
    const Rlock holder = run({"sleep", "60"});
    REQUIRE(eventually([&] { return redis.has("rlock:meta:{deploy}"); }));
    const auto started = std::chrono::steady_clock::now();
    const auto waited = [&] { return std::chrono::steady_clock::now() - started; };
    const Rlock waiter = run({"true"});
    REQUIRE(eventually([&] { return lines_in(waiter.err()) == 1; }));
    // The waiter asks again and again, and hears "busy" each time.
    REQUIRE(eventually([&] {
      redis.cli({"PUBLISH", "redisson_sc:{deploy}", "1"});
      return waited() > 3500ms;
    }));
    const std::size_t lines = lines_in(waiter.err());
    CHECK(lines <= (waited() < 5s ? 1 : waited() < 15s ? 2 : 3));
  }
}

TEST_CASE("a failed acquire of permits names their holders") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"permit", "init", "seats", "3"}) == 0);
  Rlock run =
      redis.rlock("run", "-k", "seats", "--permits", "3", "--reason", "the first", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{seats}"); }));
  Rlock vain = redis.rlock("permit", "acquire", "-n", "seats", "--count", "3", "--lease", "1m");
  CHECK(vain.exit_code() == 75);
  CHECK(contains(
      vain.err(),
      "rlock: not waiting (-n): 'seats': too few of its permits are free, or others wait for them; held by "));
  CHECK(contains(vain.err(), "\"the first\""));
  CHECK(contains(vain.err(), "rlock: to see its holders: rlock inspect seats\n"));
}
