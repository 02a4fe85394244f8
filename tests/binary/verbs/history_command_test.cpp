// rlock history: the holders of a key, and how each hold ended; and its use by inspect, unlock and lost runs.

#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/redis_server.h"

using namespace rlock::test;
using namespace std::chrono_literals;
using HistoryJson = nlohmann::ordered_json;

namespace {

/// The entries, the newest first.
HistoryJson holds(const RedisServer& redis, const std::string& key = "k") {
  Rlock history = redis.rlock("history", "--json", key);
  REQUIRE(history.exit_code() <= 1);
  return HistoryJson::parse(history.out())["holds"];
}

HistoryJson last(const RedisServer& redis, const std::string& key = "k") {
  const HistoryJson all = holds(redis, key);
  REQUIRE_FALSE(all.empty());
  return all.front();
}

/// A run that holds `k`, and whose command has started.
Rlock held(RedisServer& redis, const Words& more = {}) {
  Words words{"run", "-k", "k", "--kill-after", "1s"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", "sleep", "60"});
  Rlock run{words, redis.environment()};
  REQUIRE(eventually([&] { return redis.has("k") && run.family().size() >= 3; }, 10s));
  return run;
}

void wait_until_it_listens(RedisServer& redis) {
  REQUIRE(eventually(
      [&] { return contains(redis.cli({"PUBSUB", "CHANNELS"}), "redisson_lock__channel:{k}:"); }, 10s));
}

}  // namespace

TEST_CASE("history shows the holders of a key, for how long, and each end: exit, signal, limit, no command") {
  RedisServer redis;
  CHECK(status_of(redis, {"run", "-k", "k", "--reason", "hotfix 42", "--", "sh", "-c", "exit 3"}) == 3);
  HistoryJson hold = last(redis);
  CHECK(hold["outcome"] == "ran");
  CHECK(hold["exit"] == 3);
  CHECK(hold["signal"].is_null());
  CHECK(hold["type"] == "lock");
  CHECK(hold["meta"]["reason"] == "hotfix 42");
  CHECK(hold["meta"]["command"] == "sh -c");
  CHECK(hold["meta"]["pid"].get<int>() > 0);
  CHECK(hold["waited_ms"].get<int>() < 10'000);
  CHECK(hold["ended_at"].get<long long>() - hold["since"].get<long long>() ==
        hold["held_ms"].get<long long>());

  CHECK(status_of(redis, {"run", "-k", "k", "--", "sh", "-c", "kill -9 $$"}) == 137);
  CHECK(last(redis)["signal"] == 9);
  CHECK(status_of(redis, {"run", "-s", "-k", "r", "--max-hold", "100ms", "--", "sleep", "60"}) == 124);
  CHECK(last(redis, "r")["outcome"] == "max-hold");
  CHECK(last(redis, "r")["type"] == "read");
  TempDir folder;
  write_file(folder / "no-program", "");
  CHECK(status_of(redis, {"run", "-k", "k", "--", folder / "no-program"}) == 126);

  Rlock text = redis.rlock("history", "k");
  CHECK(text.exit_code() == 0);
  CHECK(contains(text.out(), " (sh -c) \"hotfix 42\", held "));
  CHECK(contains(text.out(), ": exit 3\n"));
  CHECK(contains(text.out(), ": SIGKILL\n"));
  Rlock one = redis.rlock("history", "-n1", "k");
  CHECK(one.exit_code() == 0);
  CHECK(std::ranges::count(one.out(), '\n') == 1);
}

TEST_CASE("a key that was never held has no history: 1, and a KEY that looks like a pattern gets a hint") {
  RedisServer redis;
  Rlock none = redis.rlock("history", "orders:*");
  CHECK(none.exit_code() == 1);
  CHECK(none.out().empty());
  CHECK(contains(none.err(), "the server has no record of an ended hold of 'orders:*'"));
  CHECK(contains(none.err(), "rlock list 'orders:*'"));
}

TEST_CASE("a key that --min-hold or --once-per keeps has its entry, too") {
  RedisServer redis;
  CHECK(status_of(redis, {"run", "-k", "k", "--min-hold", "1h", "--", "true"}) == 0);
  CHECK(last(redis)["exit"] == 0);
  CHECK(status_of(redis, {"run", "-k", "o", "--once-per", "1h", "--", "true"}) == 0);
  CHECK(last(redis, "o")["exit"] == 0);
  CHECK(redis.has("k"));
}

TEST_CASE("several keys have an entry each, a hold inside a hold has none") {
  RedisServer redis;
  CHECK(status_of(redis, {"run", "-k", "a", "-k", "k", "--", "sh", "-c",
                          "\"$RLOCK\" run -k k -- true; exit 3"}) == 3);
  for (const char* key : {"a", "k"}) {
    CAPTURE(key);
    CHECK(holds(redis, key).size() == 1);
    CHECK(last(redis, key)["exit"] == 3);
  }
}

TEST_CASE("inspect of a free key shows its last holder") {
  RedisServer redis;
  CHECK(status_of(redis, {"run", "-k", "k", "--", "sh", "-c", "exit 3"}) == 3);
  Rlock inspect = redis.rlock("inspect", "k");
  CHECK(inspect.exit_code() == 0);
  CHECK(contains(inspect.out(), "k             free\n  last: "));
  CHECK(contains(inspect.out(), " ago: exit 3\n"));
  Rlock json = redis.rlock("inspect", "--json", "k");
  CHECK(json.exit_code() == 0);
  CHECK(HistoryJson::parse(json.out())["keys"][0]["last"]["exit"] == 3);
}

TEST_CASE("if a run was killed, its guardian records it in the history") {
  RedisServer redis;
  Rlock run = held(redis);
  run.signal(SIGKILL);
  REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
  CHECK(last(redis)["outcome"] == "killed");
  CHECK(last(redis)["why"] == "rlock was killed");
}

TEST_CASE("the history of a run shows who stopped it, and why") {
  RedisServer redis;
  Rlock run = held(redis);
  CHECK(status_of(redis, {"stop", "k", "--reason", "the release is off"}) == 0);
  CHECK(run.exit_code() == 124);
  CHECK(last(redis)["outcome"] == "stopped");
  CHECK(contains(last(redis)["why"].get<std::string>(), ": the release is off"));
}

TEST_CASE("a run that loses its lock by unlock learns at once by whom and why") {
  RedisServer redis;
  TempDir folder;
  Rlock run = held(redis, {"--lease", "1h", "--status-file", folder / "status"});
  wait_until_it_listens(redis);
  CHECK(status_of(redis, {"unlock", "--yes", "k", "--reason", "stuck since noon"}) == 0);
  CHECK(run.exit_code(5s) == 125);  // the next renewal is twenty minutes away
  CHECK(contains(run.err(), "lost 'k': removed by "));
  CHECK(contains(run.err(), ": stuck since noon; stopping the command: SIGTERM now"));
  CHECK_FALSE(contains(run.err(), "'k' was removed by"));  // because an earlier line has told it
  const HistoryJson status = HistoryJson::parse(read_file(folder / "status"));
  CHECK(status["outcome"] == "lost");
  CHECK(contains(status["error"].get<std::string>(), "removed by "));
  CHECK(contains(status["error"].get<std::string>(), ": stuck since noon"));
  const HistoryJson all = holds(redis);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["outcome"] == "removed");
  CHECK(contains(all[0]["why"].get<std::string>(), ": stuck since noon"));
}

TEST_CASE("a run that heard nothing of the removal finds it in the history") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--", "sh", "-c", "$0 unlock --yes k --reason noon 2>/dev/null",
                          rlock_binary());
  CHECK(run.exit_code() == 125);
  CHECK(contains(run.err(), "'k' was removed by "));
  CHECK(contains(run.err(), ": noon"));
  CHECK(holds(redis).size() == 1);
}

TEST_CASE("the removal of a Redisson lock has an entry: its owner, the remover, the reason") {
  RedisServer redis;
  redis.cli({"HSET", "k", "8d1f2c3a-1111-4222-8333-444455556666:57", "1"});
  redis.cli({"PEXPIRE", "k", "60000"});
  CHECK(Rlock{{"unlock", "-y", "k", "--reason", "stuck"}, redis.environment()}.exit_code() == 0);
  Rlock history = redis.rlock("history", "k");
  CHECK(history.exit_code() == 0);
  CHECK_MESSAGE(contains(history.out(), "  8d1f2c...:57 (a Redisson client): removed by "), history.out());
  CHECK(contains(history.out(), ": stuck\n"));
  CHECK_FALSE(contains(history.out(), "held"));
  Rlock inspect = redis.rlock("inspect", "k");
  CHECK(inspect.exit_code() == 0);
  CHECK(contains(inspect.out(), "last: 8d1f2c...:57 (a Redisson client), "));
  redis.cli({"HSET", "k", "8d1f2c3a-1111-4222-8333-444455556666:57", "1"});
  CHECK(Rlock{{"unlock", "-y", "k"}, redis.environment()}.exit_code() == 0);
  Rlock twice = redis.rlock("history", "--json", "k");
  CHECK(twice.exit_code() == 0);
  CHECK(contains(twice.out(), "\"outcome\":\"removed\""));
  CHECK(redis.cli({"ZCARD", "rlock:history:{k}"}) == "2");
}

TEST_CASE("the history of the other keys of a run says that one of them was removed") {
  RedisServer redis;
  Rlock run = held(redis, {"-k", "other"});
  wait_until_it_listens(redis);
  CHECK(status_of(redis, {"unlock", "--yes", "k", "--reason", "noon"}) == 0);
  CHECK(run.exit_code(5s) == 125);
  CHECK(last(redis)["outcome"] == "removed");
  CHECK(last(redis, "other")["outcome"] == "lost");
  const std::string why = last(redis, "other")["why"];
  CHECK(contains(why, "one of 'k', 'other' was removed by "));
  CHECK(contains(why, ": noon"));
}

TEST_CASE("a key that --min-hold keeps has a second entry when it is removed") {
  RedisServer redis;
  CHECK(status_of(redis, {"run", "-k", "k", "--min-hold", "1h", "--", "true"}) == 0);
  CHECK(status_of(redis, {"unlock", "--yes", "k", "--reason", "too early"}) == 0);
  const HistoryJson all = holds(redis);
  REQUIRE(all.size() == 2);
  CHECK(all[0]["outcome"] == "removed");
  CHECK(contains(all[0]["why"].get<std::string>(), ": too early"));
  CHECK(all[1]["outcome"] == "ran");
}

TEST_CASE("a false message that its lock was removed does not end a run") {
  RedisServer redis;
  Rlock run = held(redis);
  wait_until_it_listens(redis);
  const std::string owner = redis.cli({"HKEYS", "k"});
  Monitor monitor{redis};
  redis.cli({"PUBLISH", "redisson_lock__channel:{k}:" + owner, "removed\nme\nfor fun"});
  REQUIRE(
      eventually([&] { return !monitor.commands().empty() && contains(monitor.commands().back(), "EVAL"); }));
  CHECK(run.running());
  CHECK(redis.has("k"));
  run.signal(SIGTERM);
  CHECK(run.exit_code() == 143);
  CHECK(last(redis)["outcome"] == "ran");
}

TEST_CASE("lock release, and the keeper of a script, write the end of their holds") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k");
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", owner}) == 0);
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", owner}) == 1);
  REQUIRE(holds(redis).size() == 1);
  CHECK(last(redis)["outcome"] == "released");
  CHECK(last(redis)["owner"] == owner);

  Rlock script{{"lock", "wait", "k"}, redis.environment()};  // any script that runs rlock
  CHECK(script.exit_code() == 0);
  Process sh{{"sh", "-c", "$0 lock acquire s --while-pid $$ >/dev/null && exit 0", rlock_binary()},
             redis.environment()};
  CHECK(sh.exit_code() == 0);
  REQUIRE(eventually([&] { return holds(redis, "s").size() == 1; }, 10s));
  CHECK(last(redis, "s")["why"] == "the script has ended");
}

TEST_CASE("holds of an owner that has several end with the last") {
  RedisServer redis;
  const Words take{"lock", "acquire", "-n", "k", "--lease", "1m", "--owner", "ci:1", "--again"};
  CHECK(status_of(redis, take) == 0);
  CHECK(status_of(redis, take) == 0);
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", "ci:1"}) == 0);
  CHECK(holds(redis).empty());
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", "ci:1"}) == 0);
  CHECK(holds(redis).size() == 1);
}

TEST_CASE(
    "an owner that writes and reads is known until both holds are released, and only then the hold has ended") {
  RedisServer redis;
  for (const auto& [first, last_half] : {std::pair{"write", "read"}, std::pair{"read", "write"}}) {
    CAPTURE(first);
    const std::string key = std::string{"k-"} + first;
    const std::string owner = acquired(redis, key, {"-x"});
    REQUIRE(status_of(redis, {"lock", "acquire", "-n", "-s", "--lease", "1m", "--owner", owner, key}) == 0);
    REQUIRE(status_of(redis, {"lock", "release", "--type", first, "--owner", owner, key}) == 0);
    Rlock inspect = redis.rlock("inspect", "--json", key);
    CHECK(inspect.exit_code() == 0);
    const HistoryJson holders = HistoryJson::parse(inspect.out())["keys"][0]["holders"];
    REQUIRE(holders.size() == 1);
    CHECK_FALSE(holders[0]["meta"].is_null());
    CHECK(holds(redis, key).empty());

    REQUIRE(status_of(redis, {"lock", "release", "--type", last_half, "--owner", owner, key}) == 0);
    CHECK(holds(redis, key).size() == 1);
    CHECK_FALSE(redis.has("rlock:meta:{" + key + "}"));
  }
}

TEST_CASE("RLOCK_HISTORY=0, and history = 0 in a file, write nothing; other words are refused") {
  RedisServer redis;
  Process::Options off = redis.environment();
  off.env["RLOCK_HISTORY"] = "0";
  Rlock quiet{{"run", "-k", "k", "--", "true"}, off};
  CHECK(quiet.exit_code() == 0);
  TempDir folder;
  write_file(folder / "config", "history = 0\n");
  CHECK(status_of(redis, {"run", "--config", folder / "config", "-k", "k", "--", "true"}) == 0);
  CHECK(holds(redis).empty());
  CHECK_FALSE(redis.has("rlock:history:{k}"));

  off.env["RLOCK_HISTORY"] = "never";
  Rlock junk{{"run", "-k", "k", "--", "true"}, off};
  CHECK(junk.exit_code() == 78);
  CHECK(contains(junk.err(), "RLOCK_HISTORY: expected yes or no"));
}

TEST_CASE("a foreign value under the history's key hinders no release, and reaches no terminal unescaped") {
  RedisServer redis;
  redis.cli({"RPUSH", "rlock:history:{k}", "junk"});
  CHECK(status_of(redis, {"run", "-k", "k", "--", "true"}) == 0);
  CHECK_FALSE(redis.has("k"));
  CHECK_FALSE(redis.has("rlock:meta:{k}"));
  CHECK(status_of(redis, {"history", "k"}) == 1);
  CHECK(status_of(redis, {"inspect", "k"}) == 0);

  redis.cli({"ZADD", "rlock:history:{p}", "1",
             "\x1b[31mo\n{\"ended_at\":1,\"since\":1,\"outcome\":\"\\u001b[2J\",\"host\":\"\\u001b]0;x\","
             "\"user\":\"\\u202e\",\"why\":\"\\u001b[5m\",\"command\":\"\\u0007\",\"type\":\"\\u001b\"}"});
  for (const Words& words : {Words{"history", "p"}, Words{"history", "--json", "p"}, Words{"inspect", "p"},
                             Words{"inspect", "--json", "p"}}) {
    Rlock rlock{words, redis.environment()};
    CHECK(rlock.exit_code() == 0);
    CHECK_FALSE(contains(rlock.out() + rlock.err(), "\x1b"));
    CHECK_FALSE(contains(rlock.out() + rlock.err(), "\x07"));
    CHECK_FALSE(contains(rlock.out() + rlock.err(), "\u202e"));
  }
}

TEST_CASE("an outcome that only another version knows is shown as it was written") {
  RedisServer redis;
  redis.cli({"ZADD", "rlock:history:{k}", "1",
             "me:1\n{\"ended_at\":1,\"since\":1,\"outcome\":\"evicted\",\"exit\":3}"});
  Rlock text{{"history", "k"}, redis.environment()};
  CHECK(text.exit_code() == 0);
  CHECK(contains(text.out(), ": evicted (exit 3)\n"));
  CHECK(last(redis)["outcome"] == "evicted");
}

TEST_CASE("arguments of the command are not written down, unless --show-args says so") {
  RedisServer redis;
  CHECK(status_of(redis, {"run", "-k", "k", "--", "true", "--token", "CANARY"}) == 0);
  CHECK_FALSE(contains(redis.cli({"ZRANGE", "rlock:history:{k}", "0", "-1"}), "CANARY"));
  CHECK(status_of(redis, {"run", "-k", "k", "--show-args", "--", "true", "shown"}) == 0);
  CHECK(contains(last(redis)["meta"]["command"].get<std::string>(), "shown"));
}

TEST_CASE("the release and the history are one request") {
  RedisServer redis;
  Process::Options off = redis.environment();
  off.env["RLOCK_HISTORY"] = "0";
  const auto requests = [&](const Process::Options& options) {
    Rlock first{{"run", "-k", "k", "--", "true"}, options};  // from now on the server knows the scripts
    REQUIRE(first.exit_code() == 0);
    Monitor monitor{redis};
    Rlock run{{"run", "-k", "k", "--", "true"}, options};
    REQUIRE(run.exit_code() == 0);
    redis.cli({"PING"});
    REQUIRE(eventually([&] { return contains(monitor.commands().back(), "PING"); }));
    return monitor.commands().size();
  };
  CHECK(requests(redis.environment()) == requests(off));
}

TEST_CASE(
    "each of several servers has the history, and one entry is shown; in a cluster the history is in the key's slot") {
  Masters masters{3};
  Rlock run = masters.rlock("run", "-k", "k", "--", "sh", "-c", "exit 3");
  CHECK(run.exit_code() == 3);
  Rlock history = masters.rlock("history", "--json", "k");
  CHECK(history.exit_code() == 0);
  const HistoryJson all = HistoryJson::parse(history.out())["holds"];
  REQUIRE(all.size() == 1);
  CHECK(all[0]["exit"] == 3);

  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url();
  Rlock there{{"run", "-k", "k", "--", "true"}, options};
  CHECK(there.exit_code() == 0);
  Rlock shown{{"history", "k"}, options};
  CHECK(shown.exit_code() == 0);
}
