// rlock stop: asks the holder of a lock to end.

#include <doctest/doctest.h>

#include <csignal>
#include <vector>

#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/figures.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"
#include "support/witness.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

using Span = std::chrono::milliseconds;

}  // namespace

TEST_CASE("stop ends the holder of a lock of any type: 124, outcome stopped, the sender and the reason") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "plain"}) {
    CAPTURE(type);
    TempDir folder;
    Rlock run = redis.rlock("run", "--type", type, "-k", "k", "--min-hold", "1h", "--status-file",
                            folder / "status", "--", "sleep", "60");
    REQUIRE(eventually([&] { return redis.has("k") && run.family().size() >= 3; }, 10s));
    const std::string reason = "the release is off" + std::string(100, '!');
    Rlock stop = redis.rlock("stop", "k", "--reason", reason);
    CHECK(stop.exit_code() == 0);
    CHECK(contains(stop.err(), "the holder of 'k' has ended: "));
    CHECK(run.exit_code() == 124);
    CHECK(contains(run.err(), "asked to end by "));
    CHECK(contains(run.err(), ": " + reason + "; stopping the command: SIGTERM now, SIGKILL in "));
    CHECK(contains(read_file(folder / "status"), "\"outcome\":\"stopped\",\"exit\":124"));
    CHECK(contains(read_file(folder / "status"), "\"released\":\"yes\""));
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("stop ends a run with --no-renew, which hears of it although it renews nothing") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "--no-renew", "--lease", "5m", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k") && run.family().size() >= 3; }, 10s));
  CHECK(status_of(redis, {"stop", "k"}) == 0);
  CHECK(run.exit_code() == 124);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("unlock stops a run with --no-renew at once, and the operator is told when it hears of it") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "plain"}) {
    CAPTURE(type);
    Rlock run =
        redis.rlock("run", "--no-renew", "--lease", "5m", "--type", type, "-k", "k", "--", "sleep", "60");
    REQUIRE(eventually([&] { return !redis.cli({"PUBSUB", "CHANNELS", "*:{k}:?*"}).empty(); },
                       10s));  // it listens
    Rlock unlock = redis.rlock("unlock", "--yes", "k");
    CHECK(unlock.exit_code() == 0);
    CHECK(contains(
        unlock.err(),
        "rlock: the holder does not renew it (--no-renew); if its command still runs, it hears of this "
        "within 1m40s at the latest; rlock stop ends the command first\n"));
    CHECK(run.exit_code() == 125);
    CHECK(contains(run.err(), "rlock: lost 'k': removed by "));
    CHECK(contains(run.err(), "; stopping the command: SIGTERM now"));
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("stop of all readers ends all, and with --if-owner one of them") {
  RedisServer redis;
  Rlock one = redis.rlock("run", "-s", "-k", "k", "--", "sh", "-c", "echo $RLOCK_OWNER; exec sleep 60");
  Rlock two = redis.rlock("run", "-s", "-k", "k", "--", "sleep", "60");
  Rlock three = redis.rlock("run", "-s", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.cli({"HLEN", "k"}) == "4" && !one.out().empty(); }, 10s));
  CHECK(status_of(redis, {"stop", "k", "--if-owner", line(one.out())}) == 0);
  CHECK(one.exit_code() == 124);
  CHECK(two.running());
  CHECK(status_of(redis, {"stop", "k", "--if-owner", line(one.out())}) == 1);
  CHECK(status_of(redis, {"stop", "k"}) == 0);
  CHECK(two.exit_code() == 124);
  CHECK(three.exit_code() == 124);
}

TEST_CASE("a key that is given twice is asked once") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k"); }, 10s));
  Rlock stop = redis.rlock("stop", "k", "k");
  CHECK(stop.exit_code() == 0);
  CHECK(contains(stop.err(), "the holder of 'k' has ended"));
  CHECK(stop.err().find("has ended") == stop.err().rfind("has ended"));
  CHECK(run.exit_code() == 124);
}

TEST_CASE("a run that reads inside its own write hold is asked, and named, once") {
  RedisServer redis;
  Rlock run =
      redis.rlock("run", "-x", "-k", "k", "--", rlock_binary(), "run", "-s", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.cli({"HLEN", "k"}) == "3"; }, 10s));
  Rlock stop = redis.rlock("stop", "k");
  CHECK(stop.exit_code() == 0);
  CHECK_MESSAGE(occurrences(stop.err(), " pid ") == 1, stop.err());
  CHECK(run.exit_code() == 124);
}

TEST_CASE("a run inside a hold is asked, whichever of the owner's two entries the server names first") {
  RedisServer redis;
  std::vector<Rlock> runs;
  for (const std::string key : {"a", "b", "c"}) {
    const std::string owner =
        key + std::string(100, '1');  // so long that the fields have the order of their hashes
    CHECK(status_of(redis, {"lock", "acquire", "-x", key, "--owner", owner, "--lease", "60s"}) == 0);
    runs.push_back(redis.rlock("run", "-qx", "--owner", owner, "-k", key, "--", rlock_binary(), "run", "-qs",
                               "--owner", owner, "-k", key, "--", "sleep", "60"));
    REQUIRE(eventually([&] { return redis.cli({"HLEN", key}) == "3"; }, 10s));
  }
  Rlock stop = redis.rlock("stop", "-w", "3s", "a", "b", "c");
  static_cast<void>(stop.exit_code());  // the script that acquired the locks does not release them
  CHECK_MESSAGE(!contains(stop.err(), "takes no requests"), stop.err());
  for (Rlock& run : runs) CHECK(run.exit_code() == 124);
}

TEST_CASE("a free key is 1, a holder that cannot be asked is 65, and the message names unlock") {
  RedisServer redis;
  CHECK(status_of(redis, {"stop", "free"}) == 1);
  redis.cli({"HSET", "java", "8d1f:57", "1"});
  acquired(redis, "lease");
  CHECK(status_of(redis, {"run", "-k", "kept", "--min-hold", "1h", "--", "true"}) == 0);
  for (const std::string key : {"java", "lease", "kept"}) {
    CAPTURE(key);
    Rlock stop = redis.rlock("stop", key);
    CHECK(stop.exit_code() == 65);
    CHECK(contains(stop.err(), "cannot ask the holder of"));
    CHECK(contains(stop.err(), "rlock unlock " + key));
    CHECK(redis.has(key));
  }
  redis.cli({"SET", "text", "x"});
  Rlock stop = redis.rlock("stop", "text");
  CHECK(stop.exit_code() == 65);
  CHECK(contains(stop.err(), ": rlock unlock --type plain text\n"));
  redis.cli({"RPUSH", "list", "x"});
  for (const std::string verb : {"stop", "unlock"}) {
    Rlock refused = redis.rlock(verb, "list");
    CHECK(refused.exit_code() == 65);
    CHECK(contains(refused.err(), "'list' holds a list, not a lock; see: rlock inspect list\n"));
  }
}

TEST_CASE("stop of a pool of permits says that it needs --if-owner, and ends that one") {
  RedisServer redis;
  CHECK(status_of(redis, {"permit", "init", "seats", "2"}) == 0);
  Rlock run = redis.rlock("run", "--type", "permit", "-k", "seats", "--", "sh", "-c",
                          "echo $RLOCK_OWNER; exec sleep 60");
  REQUIRE(eventually([&] { return !run.out().empty(); }, 10s));
  const std::string owner = line(run.out());
  Rlock unnamed = redis.rlock("stop", "seats");
  CHECK(unnamed.exit_code() == 65);
  CHECK(unnamed.err() ==
        "rlock: 'seats' holds a pool of permits: name the holder by --if-owner ID; rlock inspect -v "
        "seats shows the ids\n");
  CHECK(status_of(redis, {"stop", "seats", "--if-owner", "another"}) == 1);
  CHECK(run.running());
  CHECK(status_of(redis, {"stop", "seats", "--if-owner", owner}) == 0);
  CHECK(run.exit_code() == 124);

  Rlock next = redis.rlock("run", "--type", "permit", "-k", "seats", "--", "sleep", "60");
  std::string shown;
  REQUIRE(eventually(
      [&] {
        Rlock inspect = redis.rlock("inspect", "-v", "seats");
        shown = inspect.exit_code() == 0 ? inspect.out() : "";
        return contains(shown, ", permit ");
      },
      10s));
  const std::size_t id = shown.find(", permit ") + std::string{", permit "}.size();
  CHECK(status_of(redis, {"stop", "seats", "--if-owner", shown.substr(id, 32)}) == 0);
  CHECK(next.exit_code() == 124);
}

TEST_CASE("a command that does not end in time is 75, and keeps its lock until it has ended") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--kill-after", "3s", "--", "sh", "-c",
                          "trap '' TERM; echo on; while :; do sleep 0.1; done");
  REQUIRE(eventually([&] { return run.out() == "on\n"; }, 10s));
  Rlock stop = redis.rlock("stop", "-w", "2s", "k");
  CHECK(stop.exit_code() == 75);
  // KILL comes later than the wait has ended, so there is no reason for force.
  CHECK(contains(stop.err(), "is still held by"));
  CHECK_MESSAGE(stop.err().ends_with("; to wait longer, call rlock stop again\n"), stop.err());
  CHECK(redis.has("k"));
  CHECK(run.exit_code() == 124);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("a wait that ends before a young run listens is 75, and recommends to ask again") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k"); }, 10s));
  Rlock stop = redis.rlock("stop", "-w", "1ms", "k");
  CHECK(stop.exit_code() == 75);
  CHECK_MESSAGE(stop.err().ends_with("; to wait longer, call rlock stop again\n"), stop.err());
  CHECK(status_of(redis, {"stop", "k"}) <= 1);  // on a slow machine, the run has heard the first request
  CHECK(run.exit_code() == 124);
}

TEST_CASE(
    "a holder that has not ended after its --kill-after and five seconds more may be removed by force") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--kill-after", "1ms", "--", "sleep", "60");
  REQUIRE(eventually([&] { return !redis.cli({"PUBSUB", "CHANNELS", "*:{k}:?*"}).empty(); }, 10s));
  run.signal(SIGSTOP);
  Rlock stop = redis.rlock("stop", "k");
  CHECK(stop.exit_code() == 75);
  CHECK_MESSAGE(stop.err().ends_with("; to remove the lock by force: rlock unlock k\n"), stop.err());
  run.signal(SIGCONT);
  // If it was suspended between two of its own calls, its connection looks late, and the requests there are lost.
  CHECK(status_of(redis, {"stop", "k"}) <= 1);
  CHECK(run.exit_code() == 124);
}

TEST_CASE("stop of several keys asks all holders before it waits, and none if one of them cannot be asked") {
  RedisServer redis;
  TempDir folder;
  const std::string asked = folder / "asked";
  Rlock first = redis.rlock("run", "-k", "a", "--kill-after", "1m", "--", "sh", "-c",
                            "trap 'while [ ! -e " + asked +
                                " ]; do sleep 0.1; done; exit' TERM; echo on; "
                                "while :; do sleep 0.1; done");
  Rlock second = redis.rlock("run", "-k", "b", "--kill-after", "1m", "--", "sh", "-c",
                             "trap 'echo >" + asked + "; exit' TERM; echo on; while :; do sleep 0.1; done");
  REQUIRE(eventually([&] { return first.out() == "on\n" && second.out() == "on\n"; }, 10s));
  redis.cli({"SET", "java", "token"});
  Rlock refused = redis.rlock("stop", "a", "b", "java");
  CHECK(refused.exit_code() == 65);
  CHECK(contains(refused.err(), "cannot ask the holder of 'java' to end"));
  CHECK(status_of(redis, {"stop", "-w", "20s", "a", "b"}) == 0);
  CHECK(first.exit_code() == 124);
  CHECK(second.exit_code() == 124);
}

TEST_CASE("stop ends a script that has a keeper, and its lock is given back when it has ended") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK"] = rlock_binary();
  Process script{{"sh", "-c", "owner=$(\"$RLOCK\" lock acquire k --while-pid $$) || exit; exec sleep 60"},
                 options};
  REQUIRE(eventually([&] { return redis.has("k"); }, 10s));
  CHECK(status_of(redis, {"stop", "k"}) == 0);
  CHECK(script.exit_code() == 128 + SIGTERM);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("stop ends a run inside a hold without a keeper, and waits for the script to release the hold") {
  RedisServer redis;
  const std::string section =
      "\"$RLOCK\" lock acquire k --owner me --lease 1m >/dev/null; "
      "\"$RLOCK\" run -q -k k --owner me -- sleep 60; echo $?; ";
  for (const bool releases : {true, false}) {
    CAPTURE(releases);
    auto script = sh(redis, section + (releases ? "\"$RLOCK\" lock release k --owner me" : ":"));
    REQUIRE(eventually([&] { return redis.cli({"HGET", "k", "me"}) == "2"; }, 20s));
    Rlock stop = redis.rlock("stop", "-w", releases ? "20s" : "3s", "k");
    CHECK(stop.exit_code() == (releases ? 0 : 75));
    CHECK(eventually([&] { return script.out() == "124\n"; }, 20s));
    CHECK(redis.has("k") != releases);
  }
  CHECK(status_of(redis, {"stop", "k"}) == 65);
}

TEST_CASE("unlock of a holder that lives recommends stop") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return run.family().size() >= 3 && redis.has("k"); }, 10s));
  Rlock unlock = redis.rlock("unlock", "-y", "k");
  CHECK(unlock.exit_code() == 0);
  CHECK(contains(unlock.err(), "rlock stop ends the command first"));
}

TEST_CASE("a run that is over within a second costs the server no request for stop") {
  RedisServer redis;
  Monitor monitor{redis};
  CHECK(status_of(redis, {"run", "-k", "k", "--", "true"}) == 0);
  for (const std::string& command : monitor.commands()) CHECK_FALSE(contains(command, "SUBSCRIBE"));
}

TEST_CASE("stop works in a cluster, and over several servers") {
  Masters masters{3};
  Rlock run = masters.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return masters.holding("k") == 3 && run.family().size() >= 3; }, 10s));
  CHECK(masters.rlock("stop", "k").exit_code() == 0);
  CHECK(run.exit_code() == 124);
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url();
  Rlock there{{"run", "-k", "foo", "--", "sleep", "60"}, options};
  REQUIRE(eventually([&] { return cluster.node(2).has("foo"); }, 30s));
  CHECK(Rlock{{"stop", "foo"}, options}.exit_code(30s) == 0);
  CHECK(there.exit_code() == 124);
}

TEST_CASE(
    "live holders are stopped under the witness: no process is beside the next holder, which starts soon") {
  RedisServer redis;
  TempDir evidence;
  const Words witness = witness_command(evidence.path(), "for 60000");
  Words words{"run", "-qk", "k", "--"};
  words.insert(words.end(), witness.begin(), witness.end());
  std::vector<Span> heard, next;
  std::vector<Rlock> runs;
  const int rounds = long_profile() ? 50 : 12;
  runs.emplace_back(words, redis.environment());
  for (int i = 1; i <= rounds; ++i) {
    const auto holds = [&] { return judge(evidence.path()).holds; };
    REQUIRE(eventually([&] { return holds() == static_cast<std::size_t>(i); }, 20s));
    runs.emplace_back(words, redis.environment());
    REQUIRE(eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{k}:line"}) == "1"; }, 20s));
    const auto asked = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration_cast<Span>(std::chrono::steady_clock::now() - asked);
    };
    REQUIRE(status_of(redis, {"stop", "-q", "k"}) == 0);
    heard.push_back(elapsed());
    REQUIRE(eventually([&] { return holds() == static_cast<std::size_t>(i + 1); }, 20s));
    next.push_back(elapsed());
    CHECK(runs[static_cast<std::size_t>(i - 1)].exit_code() == 124);
  }
  const Verdict verdict = judge(evidence.path());
  CHECK_MESSAGE(verdict.clean(), verdict.str());
  MESSAGE("stop ended: " << figures(heard) << "; the next had started: " << figures(next));
}
