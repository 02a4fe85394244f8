// Verbs that read several servers at once: a majority decides, and the report can show each server's answer.

#include <doctest/doctest.h>

#include <array>
#include <set>

#include "base/text.h"
#include "support/cli.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/masters.h"
#include "support/result.h"

using namespace rlock;
using namespace rlock::test;

namespace {

int status_at(const Masters& masters, const Words& words) {
  return result_of(words, masters.environment()).status;
}

/// Acquires `key` and returns the owner.
std::string acquired_at(const Masters& masters, const std::string& key, const std::string& type = "lock") {
  const Result acquire =
      result_of({"lock", "acquire", "-n", key, "--type", type, "--lease", "1m"}, masters.environment());
  REQUIRE(acquire.status == 0);
  return acquire.out.substr(0, acquire.out.find('\n'));
}

const std::string kOwner = "ci-42";

/// Puts the lock on the first `servers` servers, as if kOwner had taken it there.
void hold_on(Masters& masters, std::size_t servers) {
  for (std::size_t i = 0; i < servers; ++i) {
    masters[i].cli({"HSET", "deploy", kOwner, "1"});
    masters[i].cli({"PEXPIRE", "deploy", "60000"});
    masters[i].cli({"HSET", "rlock:meta:{deploy}", kOwner, "{}"});
  }
}

}  // namespace

TEST_CASE("each type that several servers can hold is taken, found, renewed and given back on all of them") {
  Masters masters{3};
  for (const std::string type : {"lock", "fair", "spin", "read", "write", "plain"}) {
    CAPTURE(type);
    const std::string owner = acquired_at(masters, type, type);
    // A majority is enough: the third server may be slow.
    CHECK(masters.holding(type) >= 2);
    CHECK(status_at(masters, {"lock", "status", "-q", type, "--owner", owner}) == 0);
    CHECK(status_at(masters, {"lock", "renew", type, "--owner", owner, "--lease", "10m"}) == 0);
    int renewed = 0;
    for (std::size_t i = 0; i < masters.size(); ++i) renewed += masters[i].pttl(type) > 500'000 ? 1 : 0;
    CHECK(renewed >= 2);
    CHECK(status_at(masters, {"lock", "release", type, "--owner", "another"}) == 1);
    CHECK(masters.holding(type) >= 2);
    CHECK(status_at(masters, {"lock", "release", type, "--owner", owner}) == 0);
    CHECK(eventually([&] { return masters.holding(type) < 2; }));
    CHECK(status_at(masters, {"lock", "status", "-q", type}) == 1);
  }
}

TEST_CASE("a lock that one server has forgotten is still held, and a majority can renew and release it") {
  Masters masters{3};
  hold_on(masters, 2);
  CHECK(status_at(masters, {"lock", "status", "-q", "deploy", "--owner", kOwner}) == 0);
  CHECK(status_at(masters, {"lock", "status", "-q", "deploy"}) == 0);
  CHECK(status_at(masters, {"lock", "renew", "deploy", "--owner", kOwner, "--lease", "1m"}) == 0);
  CHECK(status_at(masters, {"lock", "release", "deploy", "--owner", kOwner}) == 0);
  CHECK(eventually([&] { return masters.holding("deploy") == 0; }));
}

TEST_CASE("a lock on a minority of servers is not held, and its remains can be removed") {
  Masters masters{3};
  hold_on(masters, 1);
  CHECK(status_at(masters, {"lock", "status", "-q", "deploy", "--owner", kOwner}) == 1);
  CHECK(status_at(masters, {"lock", "renew", "deploy", "--owner", kOwner, "--lease", "1m"}) == 1);
  CHECK(status_at(masters, {"unlock", "--yes", "--if-owner", "another", "deploy"}) == 1);
  CHECK(masters.holding("deploy") == 1);
  CHECK(status_at(masters, {"unlock", "--yes", "deploy"}) == 0);
  CHECK(eventually([&] { return masters.holding("deploy") == 0; }));
}

TEST_CASE("if a silent server decides whether a quorum has the lock, status and renew are 69 and name it") {
  Masters masters{3};
  hold_on(masters, 1);
  masters.kill(1);
  for (const Words& words :
       {Words{"lock", "status", "deploy", "--owner", kOwner}, Words{"lock", "status", "-q", "deploy"},
        Words{"lock", "renew", "deploy", "--owner", kOwner, "--lease", "2m"}}) {
    CAPTURE(joined(words, " "));
    const Result result = result_of(words, masters.environment());
    CHECK(result.status == 69);
    CHECK_MESSAGE(contains(result.err, "no quorum: 1 of 3 servers has this hold of 'deploy', 2 are needed (" +
                                           masters.proxy(1).url() + ": "),
                  result.err);
  }
  CHECK(status_at(masters, {"lock", "status", "deploy", "--owner", "another"}) == 1);
  CHECK(status_at(masters, {"lock", "renew", "deploy", "--owner", "another"}) == 1);
}

TEST_CASE("an inner hold that a silent server decides about is 69, too, and can be released") {
  Masters masters{3};
  Process::Options options = masters.environment();
  options.env["RLOCK_BINARY"] = rlock_binary();
  Rlock run{{"run", "-k", "deploy", "--lease", "5m", "-c",
             "\"$RLOCK_BINARY\" lock acquire deploy --lease 5m --while-pid $$; exec sleep 60"},
            options};
  REQUIRE(eventually([&] { return contains(run.out(), "\n"); }));
  const std::string inner = run.out().substr(0, run.out().find('\n'));
  REQUIRE(contains(inner, "#"));
  const std::string outer = inner.substr(0, inner.find('#'));
  REQUIRE(eventually([&] { return masters.holding("deploy") == 3; }));
  masters[2].cli({"FLUSHALL"});
  masters.kill(1);
  for (const char* verb : {"status", "renew"}) {
    CAPTURE(verb);
    CHECK(status_at(masters, {"lock", verb, "deploy", "--owner", inner}) == 69);
  }
  CHECK(status_at(masters, {"lock", "release", "deploy", "--owner", inner}) == 0);
  CHECK(masters[0].cli({"HGET", "deploy", outer}) == "1");
}

TEST_CASE(
    "if the first server has lost the metadata, renew without --lease takes the lease from another one") {
  Masters masters{3};
  const std::string owner = acquired_at(masters, "deploy");
  const auto has_metadata = [&](std::size_t i) { return masters[i].has("rlock:meta:{deploy}"); };
  REQUIRE(eventually([&] { return has_metadata(0) && (has_metadata(1) || has_metadata(2)); }));
  masters[0].del("rlock:meta:{deploy}");
  const Result renew = result_of({"lock", "renew", "deploy", "--owner", owner}, masters.environment());
  CHECK_MESSAGE(renew.status == 0, renew.err);
  CHECK(eventually([&] { return has_metadata(0); }));
}

TEST_CASE("one of three servers that is dead or frozen is named and waited for no longer than needed") {
  Masters masters{3};
  hold_on(masters, 3);
  SUBCASE("dead") { masters.kill(2); }
  bool frozen = false;
  SUBCASE("frozen") {
    masters[2].freeze();
    frozen = true;
  }
  const Result inspect = result_of({"inspect", "deploy"}, masters.environment());
  CHECK(inspect.status == 0);
  CHECK(inspect.out.starts_with(masters.proxy(0).url() + "\ndeploy        lock, held\n"));
  CHECK(contains(inspect.out, masters.proxy(1).url() + "\ndeploy        lock, held\n"));
  CHECK_FALSE(contains(inspect.out, masters.proxy(2).url()));
  CHECK(contains(inspect.err, "rlock: " + masters.proxy(2).url() + ": "));
  CHECK(status_at(masters, {"lock", "status", "-q", "deploy", "--owner", kOwner}) == 0);
  CHECK(status_at(masters, {"lock", "renew", "deploy", "--owner", kOwner, "--lease", "1m"}) == 0);
  const Result all = result_of({"inspect", "-q"}, masters.environment());
  CHECK(all.status == 0);
  CHECK(all.out == "deploy\n");
  CHECK(status_at(masters, {"lock", "release", "deploy", "--owner", kOwner}) == 0);
  if (frozen) masters[2].thaw();
}

TEST_CASE("one silent server of three is waited for by all keys together, not by two dozen at a time") {
  Masters masters{3};
  Words words{"inspect", "-q"};
  for (int i = 0; i < 600; ++i) words.push_back("key-" + std::to_string(i));
  for (std::size_t i = 0; i < 3; ++i)
    masters[i].cli({"EVAL",
                    "for i = 0, 599 do redis.call('hset', 'key-' .. i, ARGV[1], 1) "
                    "redis.call('pexpire', 'key-' .. i, 600000) end",
                    "0", kOwner});
  const StopWatch alive;
  CHECK(result_of(words, masters.environment()).status == 0);
  const auto time = alive.elapsed();
  masters.proxy(2).freeze();
  const StopWatch watch;
  const Result inspect = result_of(words, masters.environment());
  CHECK(inspect.status == 0);
  CHECK(split(inspect.out, '\n').size() == 601);
  CHECK(watch.elapsed() < 2 * time + 10s);  // 17 s if two dozen keys at a time wait
}

TEST_CASE("list and metrics wait for all silent servers together") {
  Masters masters{5};
  for (std::size_t i = 0; i < 5; ++i) masters.proxy(i).freeze();
  for (const Words& words : {Words{"list"}, Words{"list", "--all"}, Words{"metrics"}}) {
    CAPTURE(joined(words, " "));
    const StopWatch watch;
    const Result asked = result_of(words, masters.environment());
    CHECK(asked.status == 69);
    CHECK(watch.elapsed() < 7s);  // 10 s if they wait for one after the other
    for (std::size_t i = 0; i < 5; ++i) CHECK(contains(asked.err, masters.proxy(i).url() + ": "));
  }
}

TEST_CASE("list ends when no quorum can answer, whatever the other servers would say") {
  Masters masters{3};
  masters.proxy(0).freeze();
  masters.kill(1);
  masters.kill(2);
  const StopWatch watch;
  CHECK(status_at(masters, {"list", "--connect-timeout", "20s"}) == 69);
  CHECK(watch.elapsed() < 15s);
}

TEST_CASE("a silent server leaves time to search and to inspect the others") {
  Masters masters{3};
  hold_on(masters, 3);
  masters.proxy(0).freeze();
  const Result list = result_of({"list", "-q", "--scan-time", "1500ms"}, masters.environment());
  CHECK(list.status == 0);
  CHECK(list.out == "deploy\n");
  CHECK(contains(list.err, masters.proxy(0).url() + ": "));
}

TEST_CASE("if two of three servers fall silent behind the search, list, inspect and metrics are 69") {
  RedisServer redis;
  std::array<FakeRedis, 2> silent{FakeRedis{FakeRedis::Transport::tcp}, FakeRedis{FakeRedis::Transport::tcp}};
  for (FakeRedis& server : silent) {
    server.on("SCAN", wire::array({wire::text("0"), wire::array({wire::text("rlock:meta:{deploy}a")})}));
    server.on("EVALSHA", wire::kSilence);
    server.on("EVAL", wire::kSilence);
  }
  for (int i = 0; i < 60; ++i) {
    const std::string key =
        "{job" + std::to_string(i) + "}a";  // with braces it is certain whose metadata it is
    redis.cli({"HSET", key, "o:1", "1"});
    redis.cli({"HSET", "rlock:meta:" + key, "o:1", R"({"since":1,"renewed":1,"lease_ms":1,"host":"h"})"});
  }
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] += " " + silent[0].url() + " " + silent[1].url();
  for (const Words& words : {Words{"list"}, Words{"list", "--json"}, Words{"inspect"}, Words{"metrics"}}) {
    CAPTURE(joined(words, " "));
    const Result asked = result_of(words, options);
    CHECK(asked.status == 69);
    CHECK(asked.out == "");
  }
}

TEST_CASE("a wait beside one silent server of three that a signal ends no longer counts as a waiter") {
  Masters masters{3};
  acquired_at(masters, "deploy");
  masters.proxy(2).freeze();
  Rlock waiter = masters.rlock("run", "-k", "deploy", "--", "true");
  REQUIRE(eventually([&] { return contains(waiter.err(), "waiting for 'deploy': held by "); }, 20s));
  waiter.signal(SIGTERM);
  CHECK(waiter.exit_code() == 128 + SIGTERM);
  CHECK(eventually([&] { return masters[0].listeners("redisson_lock__channel:{deploy}") == 0; }));
}

TEST_CASE("two of three servers that are dead are 69 for every verb") {
  Masters masters{3};
  hold_on(masters, 3);
  masters.kill(1);
  masters.kill(2);
  for (const Words& words :
       {Words{"inspect"}, Words{"inspect", "deploy"}, Words{"lock", "status", "deploy"},
        Words{"lock", "renew", "deploy", "--owner", kOwner, "--lease", "1m"},
        Words{"lock", "release", "deploy", "--owner", kOwner},
        Words{"lock", "acquire", "-n", "other", "--lease", "1m"}, Words{"unlock", "--yes", "deploy"}}) {
    CAPTURE(joined(words, " "));
    CHECK(status_at(masters, words) == 69);
  }
}

TEST_CASE("in JSON each view names its server") {
  Masters masters{2};
  hold_on(masters, 1);
  const Result inspect = result_of({"inspect", "--json", "deploy"}, masters.environment());
  CHECK(inspect.status == 0);
  CHECK(contains(
      inspect.out,
      R"("count":null,"fence":null,"server":")" + masters.proxy(0).url() +
          R"(","stale":false,"last":null},{"key":"deploy","name":"deploy","type":"none","state":"free",)"));
}

TEST_CASE("keys that are acquired one after the other are acquired on all servers that answer") {
  Masters masters{3};
  for (std::size_t i = 1; i < 3; ++i)
    masters.proxy(i).delay(TcpProxy::Way::to_client, std::chrono::milliseconds{30});
  const auto acquire = [&](const std::string& keys) {
    return Words{"lock", "acquire", "-n", keys, "--owner", "me", "--lease", "1m"};
  };
  REQUIRE(status_at(masters, acquire("a")) == 0);
  Words more = acquire("a");
  more.insert(more.end(), {"b", "c", "--again"});  // a second hold of a, and first holds of the others
  CHECK(status_at(masters, more) == 0);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(masters[i].cli({"HGET", "a", "me"}) == "2");
    CHECK(masters[i].cli({"HGET", "b", "me"}) == "1");
    CHECK(masters[i].cli({"HGET", "c", "me"}) == "1");
  }
}

TEST_CASE("types that one server counts are refused with several servers") {
  Masters masters{2};
  for (const Words& words :
       {Words{"sem", "init", "k", "1"}, Words{"sem", "acquire", "k"}, Words{"permit", "init", "k", "1"},
        Words{"permit", "acquire", "k", "--lease", "1m"}, Words{"latch", "set", "k", "1"},
        Words{"latch", "down", "k"}, Words{"latch", "wait", "k"}, Words{"latch", "status", "k"},
        Words{"lock", "acquire", "k", "--type", "fenced", "--lease", "1m"},
        Words{"run", "--permits", "2", "-k", "k", "--", "true"}}) {
    CAPTURE(joined(words, " "));
    const Result result = result_of(words, masters.environment());
    CHECK(result.status == 64);
    CHECK(split(result.err, '\n').size() == 2);
  }
  CHECK(masters.clean());
}

TEST_CASE("a server with senseless answers is named, and the two others report the holder") {
  Masters masters{2};
  hold_on(masters, 2);
  FakeRedis broken{FakeRedis::Transport::tcp};
  for (const char* command : {"EVALSHA", "EVAL", "PUBSUB"}) broken.on(command, wire::text("what"));
  Process::Options options = masters.environment();
  options.env["RLOCK_URL"] += broken.url();

  const Result status = result_of({"lock", "status", "deploy", "--owner", kOwner}, options);
  CHECK(status.status == 0);
  CHECK(contains(status.out, kOwner));
  CHECK_MESSAGE(contains(status.err, "127.0.0.1:" + std::to_string(broken.port())), status.err);
}

TEST_CASE("a lock is released while its slot of a cluster moves, as no key but its own is needed") {
  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url(0);
  const std::size_t third = ClusterServers::third_of("{a}");
  const std::string slot = std::to_string(slot_of("{a}"));
  for (const std::string type : {"lock", "fenced", "write", "spin"}) {
    CAPTURE(type);
    const std::string key = "{a}" + type;
    TempDir folder;
    options.env["GO"] = folder / "go";
    Process run{{rlock_binary(), "run", "--type", type, "-k", key, "--", "sh", "-c",
                 "echo on; until [ -e $GO ]; do sleep 0.02; done"},
                options};
    REQUIRE(eventually([&] { return contains(run.out(), "on"); }));
    cluster.node((third + 1) % 3).cli({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(third)});
    cluster.node(third).cli({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id((third + 1) % 3)});
    write_file(options.env["GO"], "");
    CHECK(run.exit_code() == 0);
    CHECK_MESSAGE(run.err().empty(), run.err());
    for (const std::size_t node : {(third + 1) % 3, third})
      cluster.node(node).cli({"CLUSTER", "SETSLOT", slot, "STABLE"});
    CHECK(cluster.node(third).cli({"EXISTS", key}) == "0");
  }
}

TEST_CASE("a busy lock is busy, also with --json while its slot of a cluster moves and nothing can be read") {
  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url(0);
  CHECK(result_of({"lock", "acquire", "{a}k", "--lease", "10m"}, options).status == 0);
  const std::size_t third = ClusterServers::third_of("{a}");
  const std::string slot = std::to_string(slot_of("{a}"));
  cluster.node((third + 1) % 3).cli({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(third)});
  cluster.node(third).cli({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id((third + 1) % 3)});
  const Result busy =
      result_of({"lock", "acquire", "{a}k", "--lease", "10m", "-n", "-E", "9", "--json"}, options);
  CHECK(busy.status == 9);
  CHECK_MESSAGE(contains(busy.out, R"("outcome":"busy","key":"{a}k")"), busy.out);
}

TEST_CASE("inspect without a key looks through every primary of a cluster") {
  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url(1);
  std::set<std::size_t> thirds;
  std::string expected;
  for (char name = 'a'; name <= 'j'; ++name) {
    const std::string key(1, name);
    thirds.insert(ClusterServers::third_of(key));
    expected += key + "\n";
    CHECK(result_of({"lock", "acquire", "-nq", key, "--lease", "10m"}, options).status == 0);
  }
  REQUIRE(thirds.size() == 3);

  const Result names = result_of({"inspect", "-q"}, options);
  CHECK(names.status == 0);
  CHECK(names.out == expected);
  const Result all = result_of({"inspect", "--json"}, options);
  CHECK(all.out.starts_with(
      R"({"v":1,"complete":true,"keys":[{"key":"a","name":"a","type":"lock","state":"held",)"));

  const std::size_t third = ClusterServers::third_of("a");
  const std::string slot = std::to_string(slot_of("a"));
  cluster.node((third + 1) % 3).cli({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(third)});
  cluster.node(third).cli({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id((third + 1) % 3)});
  const Result others = result_of({"inspect", "-q", "--command-timeout", "1s"}, options);
  CHECK(others.status == 0);
  CHECK(others.out == expected.substr(2));
  CHECK(contains(others.err, "'a' cannot be read: "));
  CHECK_FALSE(contains(others.err, "--wait"));
  const Result part = result_of({"inspect", "--json", "--command-timeout", "1s"}, options);
  CHECK(part.out.starts_with(R"({"v":1,"complete":false,"keys":[{"key":"b",)"));
  CHECK(result_of({"inspect", "a", "--command-timeout", "1s"}, options).status == 69);
}
