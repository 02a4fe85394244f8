// Several keys: a run takes all or none, whatever the order of its keys.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <set>

#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/crowd.h"
#include "support/eventually.h"
#include "support/hello.h"
#include "support/masters.h"
#include "support/skipped.h"
#include "support/witness.h"

using namespace rlock::test;

namespace {

/// Folders for the witnesses at a, b and c.
struct Witnesses {
  TempDir folder;

  std::string of(const std::string& key) const { return folder / key; }

  Witnesses() {
    for (const char* key : {"a", "b", "c"}) output_of({"mkdir", of(key)});
  }

  /// A command that runs a witness at each of the keys, all at the same time; it fails if one of them reports
  /// an overlap.
  Words command(const std::string& keys) const {
    std::string line;
    for (const char key : keys) line += program("witness") + " hold " + of({key}) + " for 3 & ";
    return {"sh", "-c", line + "wait"};
  }
};

/// The keys that a worker wants, in the order of its options.
std::string wanted(int worker) {
  if (worker < 10) return "abc";
  return worker < 20 ? "cba" : "aab";
}

std::string without_twins(const std::string& keys) { return keys == "aab" ? "ab" : keys; }

/// Ten workers want a b c, ten c b a, four a a b. `meanwhile` may disturb the servers. All must finish, and
/// each must be alone at each of its keys.
void check_crossing(
    const char* name, const Process::Options& environment, const Words& options, int runs,
    const std::function<void(const Witnesses&)>& meanwhile = [](const Witnesses&) {}) {
  const Witnesses witnesses;
  const auto command = [&](int worker, int) {
    Words words{rlock_binary(), "run", "-q", "--wait", "forever"};
    words.insert(words.end(), options.begin(), options.end());
    for (const char key : wanted(worker)) words.insert(words.end(), {"-k", std::string{key}});
    words.push_back("--");
    for (const auto& word : witnesses.command(without_twins(wanted(worker)))) words.push_back(word);
    return words;
  };
  const auto result = run({24, runs, command, environment}, 180s, [&] { meanwhile(witnesses); });

  CHECK_MESSAGE(result.all(0), result.str() << "\n" << result.complaints);
  const auto all = static_cast<std::size_t>(24 * runs);
  for (const char* key : {"a", "b", "c"}) {
    const auto verdict = judge(witnesses.of(key));
    CHECK_MESSAGE(verdict.clean(), name << ", " << key << ": " << verdict.str());
    CHECK(verdict.holds == (*key == 'c' ? all - static_cast<std::size_t>(4 * runs) : all));
  }
  std::printf("%s: %s\n", name, result.str().c_str());
}

}  // namespace

TEST_CASE("crossing orders on one server come to an end, each key with one holder at a time") {
  RedisServer redis;
  check_crossing("a b c against c b a, one server", redis.environment(), {}, 3);
  CHECK(eventually([&] { return redis.keys().empty(); }));
}

TEST_CASE("crossing orders of fair locks come to an end") {
  RedisServer redis;
  check_crossing("a b c against c b a, fair", redis.environment(), {"--fair"}, 1);
  CHECK(eventually([&] { return redis.keys().empty(); }, 20s));
}

TEST_CASE("crossing orders over several servers come to an end, though one server freezes for two seconds") {
  Masters three{3};
  std::optional<StopWatch> frozen;
  bool thawed = false;
  check_crossing("a b c against c b a, three servers, one frozen", three.environment(), {}, 1,
                 [&](const Witnesses& witnesses) {
                   if (!frozen && read_stays(witnesses.of("a")).size() >= 3) {
                     three[1].freeze();
                     frozen.emplace();
                   }
                   if (frozen && !thawed && frozen->elapsed() > 2s) {
                     three[1].thaw();
                     thawed = true;
                   }
                 });
  three[1].thaw();
  CHECK_MESSAGE(eventually([&] { return three.clean(); }, 20s), three.keys());
}

TEST_CASE(
    "crossing orders of keys that lie on three nodes come to an end, though one node freezes for two seconds") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  REQUIRE(std::set{&cluster.owner_of("a"), &cluster.owner_of("b"), &cluster.owner_of("c")}.size() == 3);
  auto environment = Rlock::clean_environment();
  environment.env["RLOCK_URL"] = cluster.url();
  RedisServer& node = cluster.owner_of("b");
  std::optional<StopWatch> frozen;
  bool thawed = false;
  check_crossing("a b c against c b a, a cluster, one node frozen", environment, {}, 1,
                 [&](const Witnesses& witnesses) {
                   if (!frozen && read_stays(witnesses.of("a")).size() >= 3) {
                     node.freeze();
                     frozen.emplace();
                   }
                   if (frozen && !thawed && frozen->elapsed() > 2s) {
                     node.thaw();
                     thawed = true;
                   }
                 });
  node.thaw();
  for (std::size_t i = 0; i < 3; ++i) CHECK(eventually([&] { return cluster.node(i).keys().empty(); }, 40s));
}

TEST_CASE(
    "the calls that a frozen server finds after its wake-up undo themselves when all clients are gone") {
  Masters three{3};
  bool frozen = false;
  check_crossing("a b c against c b a, three servers, one frozen to the end", three.environment(), {}, 1,
                 [&](const Witnesses& witnesses) {
                   if (frozen || read_stays(witnesses.of("a")).size() < 3) return;
                   three[1].freeze();
                   frozen = true;
                 });
  three[1].thaw();
  CHECK_MESSAGE(eventually([&] { return three.clean(); }, 20s), three.keys());
}

TEST_CASE("all keys are held together, each once, and given back together") {
  RedisServer redis;
  const TempDir folder;
  Rlock run = redis.rlock("run", "-k", "b", "-k", "a", "-k", "b", "--", "sh", "-c",
                          "printf '%s\\n' \"$RLOCK_LOCKS\" > " + folder / "locks" + "; exec sleep 60");
  REQUIRE(eventually([&] { return read_file(folder / "locks") == "a\nb\n"; }, 20s));
  CHECK(redis.has("a"));
  CHECK(redis.has("b"));

  run.signal(SIGTERM);
  CHECK(run.exit_code(30s) == 128 + SIGTERM);
  CHECK(eventually([&] { return redis.keys().empty(); }));
}

TEST_CASE("several keys on one server are taken by one script") {
  RedisServer redis;
  REQUIRE(redis.rlock("run", "-k", "a", "-k", "b", "-k", "c", "--", "true").exit_code(30s) == 0);
  Monitor monitor{redis};
  REQUIRE(redis.rlock("run", "-k", "a", "-k", "b", "-k", "c", "--", "true").exit_code(30s) == 0);

  const auto asks = std::ranges::count_if(monitor.commands(), [](const auto& command) {
    return contains(command, R"("EVALSHA")") && contains(command, R"( "a" )") &&
           contains(command, R"( "b" )") && contains(command, R"( "c" )");
  });
  CHECK(asks == (knows_hello(redis) ? 1 : 2));
}

TEST_CASE("with several keys the busy one is named, and the others stay free") {
  RedisServer redis;
  redis.cli({"HSET", "b", "somebody:1", "1"});
  redis.cli({"PEXPIRE", "b", "60000"});

  Rlock once = redis.rlock("run", "-n", "-k", "a", "-k", "b", "-k", "c", "--", "true");
  CHECK(once.exit_code(30s) == 75);
  CHECK(contains(once.err(), "'b' is held by somebody:1"));
  CHECK(redis.keys() == "b\n");

  Rlock waiter = redis.rlock("run", "-k", "a", "-k", "b", "-k", "c", "--", "true");
  CHECK(eventually([&] { return contains(waiter.err(), "waiting for 'b': held by somebody:1"); }, 20s));
  CHECK_FALSE(redis.has("a"));
  CHECK_FALSE(redis.has("c"));
  waiter.signal(SIGTERM);
  CHECK(waiter.exit_code(30s) == 128 + SIGTERM);
  CHECK(redis.keys() == "b\n");
}

TEST_CASE("with keys on several nodes the busy one is named, too") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  auto environment = Rlock::clean_environment();
  environment.env["RLOCK_URL"] = cluster.url();
  cluster.owner_of("b").cli({"HSET", "b", "somebody:1", "1"});
  cluster.owner_of("b").cli({"PEXPIRE", "b", "60000"});

  for (const std::string wait : {"0", "2s"}) {  // long enough for a loaded machine to reach three nodes
    Rlock once{{"run", "-w", wait, "-k", "a", "-k", "b", "-k", "c", "--", "true"}, environment};
    CHECK(once.exit_code(30s) == 75);
    CHECK(contains(once.err(), "'b' is held by somebody:1"));
    CHECK_FALSE(contains(once.err(), "unlock"));  // it is not stale
  }
}

TEST_CASE("a waiter for several keys is woken by the release of the busy one") {
  RedisServer redis;
  Rlock holder = redis.rlock("run", "-k", "b", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("b"); }, 20s));
  Rlock waiter = redis.rlock("run", "-q", "-k", "a", "-k", "b", "--", "true");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{b}") == 1; }, 20s));

  holder.signal(SIGTERM);
  const StopWatch watch;
  CHECK(waiter.exit_code(30s) == 0);
  CHECK(watch.elapsed() < 10s);  // far less than the lease of 30 s
}

TEST_CASE("with several keys each key that is gone at its release is named") {
  RedisServer redis;
  const TempDir folder;
  Rlock run = redis.rlock(
      "run", "-k", "a", "-k", "b", "-k", "c", "--status-file", folder / "status", "--", "sh", "-c",
      "touch " + folder / "in" + "; while [ ! -e " + folder / "go" + " ]; do sleep 0.05; done");
  REQUIRE(eventually([&] { return !output_of({"ls", folder.path()}).empty(); }, 20s));
  redis.del("a");
  redis.del("c");
  write_file(folder / "go", "");

  CHECK(run.exit_code(30s) == 125);
  CHECK(contains(run.err(), "lost 'a': it was not ours any more"));
  CHECK(contains(run.err(), "lost 'c': it was not ours any more"));
  CHECK_FALSE(contains(run.err(), "lost 'b'"));
  CHECK(contains(read_file(folder / "status"), R"("released":"no")"));
  CHECK(redis.keys().empty());
}

TEST_CASE("one key that is lost of several stops the command") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "a", "-k", "b", "--lease", "3s", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("a"); }, 20s));
  redis.del("b");
  CHECK(run.exit_code(30s) == 125);
  CHECK_MESSAGE(contains(run.err(), "lost 'a', 'b': the server says that 'b' is not ours any more"),
                run.err());
  CHECK(eventually([&] { return redis.keys().empty(); }));
}

TEST_CASE("a key that an outer run holds is entered, and the other one taken beside it") {
  RedisServer redis;
  const std::string rlock = rlock_binary();
  Rlock run = redis.rlock("run", "-k", "a", "-c",
                          rlock + " run -n -k b -k a -- true && " + rlock + " run -n -k a -k b -- true");
  CHECK(run.exit_code(30s) == 0);
  CHECK_FALSE(redis.has("a"));  // the server remembers the inner requests for a while
  CHECK_FALSE(redis.has("b"));
}

TEST_CASE("several keys have a fence each, in their order") {
  RedisServer redis;
  redis.rlock("run", "--fenced", "-k", "b", "--", "true").exit_code(30s);
  Rlock run = redis.rlock("run", "--fenced", "-k", "b", "-k", "a", "--", "sh", "-c", "echo $RLOCK_FENCE");
  CHECK(run.exit_code(30s) == 0);
  CHECK(run.out() == "1 2\n");
}

TEST_CASE("permits of several pools are refused, with an alternative") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "--permits", "2", "-k", "a", "-k", "b", "--", "true");
  CHECK(run.exit_code(30s) == 64);
  CHECK(contains(run.err(), "hold one inside the other"));
  Rlock acquire = redis.rlock("lock", "acquire", "a", "b", "--permits", "2", "--lease", "1m");
  CHECK(acquire.exit_code(30s) == 64);
  CHECK(redis.keys().empty());
}
