// --sync-replicas with a real primary and a real replica.

#include <doctest/doctest.h>

#include <csignal>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

struct Pair {
  RedisServer primary{{.tcp = true, .config = {"repl-diskless-sync-delay 0"}}};
  RedisServer replica{{.tcp = true, .config = {"replicaof 127.0.0.1 " + std::to_string(primary.port())}}};

  Pair() {
    REQUIRE(eventually([&] { return contains(replica.cli({"ROLE"}), "\nconnected\n"); }, kDeadline));
  }
  /// How often rlock has waited for the replicas.
  int tries() {
    const std::string stats = primary.cli({"INFO", "commandstats"});
    const std::string name = "cmdstat_wait:calls=";
    const auto at = stats.find(name);
    return at == stats.npos ? 0 : std::stoi(stats.substr(at + name.size()));
  }
  Rlock run(Words options, const Words& command) const {
    Words words{"run", "-k", "k"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return Rlock{words, primary.environment()};
  }
};

}  // namespace

TEST_CASE("a lock on the replica is held, and is there when the command starts") {
  Pair pair;
  Rlock rlock = pair.run({"--sync-replicas", "1"}, {"sh", "-c", "echo inside; exec sleep 60"});
  REQUIRE(eventually([&] { return rlock.out() == "inside\n"; }, kDeadline));
  CHECK(pair.replica.has("k"));
  CHECK(pair.replica.cli({"HGETALL", "k"}) == pair.primary.cli({"HGETALL", "k"}));
  rlock.signal(SIGTERM);
  CHECK(rlock.exit_code(kDeadline) == 128 + SIGTERM);
  CHECK(eventually([&] { return !pair.replica.has("k"); }, kDeadline));
}

TEST_CASE("a lock that too few replicas have is undone, and is no lock: 69") {
  Pair pair;
  for (const Words& wait : {Words{"-n"}, Words{}, Words{"--wait", "1500ms"}}) {
    Words options{"--sync-replicas", "2", "--sync-timeout", "200ms"};
    options.insert(options.end(), wait.begin(), wait.end());
    CAPTURE(options.back());
    const StopWatch watch;
    Rlock rlock = pair.run(options, {"echo", "ran"});
    if (wait.empty()) {  // without -w it waits for ever; between its tries it holds nothing
      const int before = pair.tries();
      REQUIRE(eventually([&] { return pair.tries() >= before + 3; }, kDeadline));
      rlock.signal(SIGTERM);
      CHECK(rlock.exit_code(kDeadline) == 128 + SIGTERM);
    } else {
      CHECK(rlock.exit_code(kDeadline) == 69);
      CHECK_MESSAGE(contains(rlock.err(),
                             " of 2 replicas have it (--sync-replicas); see INFO replication on the "
                             "server\n"),
                    rlock.err());
    }
    CHECK(rlock.out().empty());
    CHECK(watch.elapsed() < 10s);
    CHECK(eventually([&] { return !pair.primary.has("k"); },
                     10s));  // of a busy server, a process behind awaits the undo
  }
}

TEST_CASE("a wait for replicas ends with --wait, and nothing is held after it") {
  Pair pair;
  const StopWatch watch;
  Rlock rlock = pair.run({"--sync-replicas", "2", "--sync-timeout", "1m", "--wait", "1s"}, {"echo", "ran"});
  CHECK(rlock.exit_code(kDeadline) == 69);
  CHECK(watch.elapsed() < 10s);
  CHECK_FALSE(pair.primary.has("k"));
}

TEST_CASE("while the first wait for replicas lasts, a line says so, although no round has failed yet") {
  Pair pair;
  Rlock rlock = pair.run({"--sync-replicas", "2", "--sync-timeout", "1m", "--wait", "2s"}, {"echo", "ran"});
  CHECK(rlock.exit_code(kDeadline) == 69);
  CHECK_MESSAGE(contains(rlock.err(),
                         ": too few replicas have confirmed yet (--sync-replicas); see INFO replication "
                         "on the server; retrying\n"),
                rlock.err());
}

TEST_CASE("a wait for replicas ends with a signal, and nothing is held after it") {
  Pair pair;
  Rlock rlock = pair.run({"--sync-replicas", "2", "--sync-timeout", "1m"}, {"echo", "ran"});
  const auto waits = [&] { return contains(pair.primary.cli({"INFO", "clients"}), "blocked_clients:1"); };
  REQUIRE(eventually(waits, kDeadline));
  CHECK(pair.primary.has("k"));
  const StopWatch watch;
  rlock.signal(SIGTERM);
  CHECK(rlock.exit_code(kDeadline) == 128 + SIGTERM);
  CHECK(watch.elapsed() < 10s);
  CHECK_FALSE(pair.primary.has("k"));
}

TEST_CASE("a replica that is frozen counts no more, and counts again when it is back") {
  Pair pair;
  pair.replica.freeze();
  Rlock refused = pair.run({"-n", "--sync-replicas", "1", "--sync-timeout", "200ms"}, {"echo", "ran"});
  CHECK(refused.exit_code(kDeadline) == 69);
  CHECK(contains(refused.err(), "only 0 of 1 replicas have it"));
  CHECK_FALSE(pair.primary.has("k"));

  Rlock waits =
      pair.run({"--wait", "30s", "--sync-replicas", "1", "--sync-timeout", "200ms"}, {"echo", "ran"});
  CHECK(throughout([&] { return waits.out().empty(); }, 500ms));
  pair.replica.thaw();
  CHECK_MESSAGE(waits.exit_code(kDeadline) == 0, waits.err());
  CHECK(waits.out() == "ran\n");
}

TEST_CASE("renewals that no replica has do not keep the lock: the command is stopped in time") {
  Pair pair;
  const StopWatch watch;
  Rlock rlock = pair.run({"--lease", "3s", "--sync-replicas", "1", "--sync-timeout", "200ms"},
                         {"sh", "-c", "echo inside; exec sleep 60"});
  REQUIRE(eventually([&] { return rlock.out() == "inside\n"; }, kDeadline));
  pair.replica.freeze();
  const StopWatch since;
  CHECK(rlock.exit_code(kDeadline) == 125);
  CHECK(since.elapsed() < 8s);
  CHECK_MESSAGE(contains(rlock.err(), "only 0 of 1 replicas have it"), rlock.err());
  pair.replica.thaw();
}
