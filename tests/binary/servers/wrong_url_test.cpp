// A server that differs from its URL: a node of a cluster, a Sentinel, a replica, one server under two names.
// rlock reports it at once. There are two exceptions. With --wait it waits until a replica is the primary. A server
// under two names may be reported only at the end, if the others are enough.

#include <doctest/doctest.h>

#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/hello.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"

using namespace rlock::test;

namespace {

Rlock rlock_with_url(const std::string& url, Words words) {
  words.insert(words.end() - (words.back() == "true" ? 2 : 0), {"--url", url});
  return Rlock{words, Rlock::clean_environment()};
}

std::string loopback(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// Checks that rlock ends at once with 78 and names the right URL, with and without --wait.
void check_told(const std::string& wrong, const std::string& key, const std::string& reason) {
  for (const Words& wait : {Words{}, Words{"-n"}, Words{"-w", "20s"}, Words{"-w", "forever"}}) {
    Words run{"run", "-k", key, "--", "true"};
    run.insert(run.begin() + 1, wait.begin(), wait.end());
    const StopWatch watch;
    Rlock rlock = rlock_with_url(wrong, run);
    const int status = rlock.exit_code(kDeadline);
    INFO(rlock.err());
    CHECK(status == 78);
    CHECK(watch.elapsed() < 5s);
    CHECK(contains(rlock.err(), reason));
  }
  CHECK(rlock_with_url(wrong, {"lock", "acquire", key, "--lease", "1m"}).exit_code(kDeadline) == 78);
}

}  // namespace

TEST_CASE("a key of another node of a cluster is 78 at once, with the URL of a cluster") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  const std::size_t elsewhere = (ClusterServers::third_of("deploy") + 1) % 3;
  const std::string node = loopback(cluster.node(elsewhere).port());
  check_told("redis://" + node, "deploy",
             "it is a node of a cluster, and the key lies on another one; use --url redis+cluster://" + node);
  CHECK(
      rlock_with_url("redis+cluster://" + node, {"run", "-k", "deploy", "--", "true"}).exit_code(kDeadline) ==
      0);

  const std::string owner = loopback(cluster.owner_of("deploy").port());
  Rlock lucky = rlock_with_url("redis://" + owner, {"run", "-k", "deploy", "--", "true"});
  CHECK(lucky.exit_code(kDeadline) == 0);
  CHECK(contains(lucky.err(), "use --url redis+cluster://" + owner));
}

TEST_CASE("a Sentinel's port is 78 at once, with the URL by which it names the primary") {
  RedisServer primary{{.tcp = true}};
  SentinelServer sentinel{"mymaster", primary};
  const std::string port = loopback(sentinel.port());
  const std::string right = "redis+sentinel://" + port + "/mymaster";
  check_told("redis://" + port, "k", "it is a Sentinel, which keeps no locks; use --url " + right);
  check_told("redis+cluster://" + port, "k", "it is a Sentinel, which keeps no locks; use --url " + right);
  check_told("redis://:secret@" + port, "k", "it is a Sentinel, which keeps no locks; use --url " + right);
  CHECK(rlock_with_url(right, {"run", "-k", "k", "--", "true"}).exit_code(kDeadline) == 0);
  CHECK(primary.keys().empty());

  Rlock doctor = rlock_with_url("redis://" + port, {"doctor"});
  CHECK(doctor.exit_code(kDeadline) == 78);
  CHECK(contains(doctor.err(), "use --url " + right));
}

TEST_CASE("the right URL keeps the database, and encodes the name of the primary") {
  RedisServer primary{{.tcp = true}};
  SentinelServer sentinel{"a/b", primary};
  const std::string port = loopback(sentinel.port());
  const std::string right = "redis+sentinel://" + port + "/a%2fb/3";
  check_told("redis://" + port + "/3", "k",
             "it is a Sentinel, which keeps no locks; use --url " + right + "\n");
  CHECK(rlock_with_url(right, {"sem", "init", "k", "1"}).exit_code(kDeadline) == 0);
  CHECK(contains(primary.cli({"INFO", "keyspace"}), "db3:"));

  const std::string here = loopback(primary.port());
  check_told("redis+sentinel://" + here + "/m/3", "k",
             "it is no Sentinel; use --url redis://" + here + "/3\n");
}

TEST_CASE("a server of old that knows no scripts is 78 at once, and may be a Sentinel") {
  FakeRedis old;
  old.on("HELLO", wire::error("ERR unknown command `HELLO`, with args beginning with: `3`, "));
  old.on("EVALSHA", wire::error("ERR unknown command `EVALSHA`, with args beginning with: `secret`, "));
  check_told(old.url(), "k", "is it a Sentinel (redis+sentinel://), or a proxy, or are scripts disabled?");
}

TEST_CASE("a web server is 69, and rlock does not recommend to wait for it") {
  FakeRedis web;
  web.on("HELLO", "HTTP/1.1 400 Bad Request\r\n\r\n");
  Rlock run = rlock_with_url(web.url(), {"run", "-k", "k", "--", "true"});
  CHECK(run.exit_code(kDeadline) == 69);
  CHECK_MESSAGE(contains(run.err(), "it looks like a web server; see --url and RLOCK_URL\n"), run.err());
}

TEST_CASE("a server that is no Sentinel is 78 at once, with its right URL") {
  RedisServer redis{{.tcp = true}};
  check_told("redis+sentinel://" + loopback(redis.port()) + "/mymaster", "k",
             "it is no Sentinel; use --url redis://" + loopback(redis.port()));
}

TEST_CASE("a server that is no node of a cluster is 78 at once, with its right URL") {
  RedisServer redis{{.tcp = true}};
  check_told("redis+cluster://" + loopback(redis.port()), "k",
             "is no cluster; use --url redis://" + loopback(redis.port()));
}

TEST_CASE(
    "a replica is 69 at once unless --wait was given, and rlock never waits for a holder that it shows") {
  RedisServer primary{{.tcp = true}};
  RedisServer replica{{.tcp = true, .config = {"replicaof 127.0.0.1 " + std::to_string(primary.port())}}};
  acquired(primary, "held");
  REQUIRE(eventually([&] { return replica.has("held"); }, kDeadline));
  const std::string reason =
      "it is a read-only replica of redis://" + loopback(primary.port()) + "; name the primary";
  for (const std::string key : {"free", "held"}) {
    CAPTURE(key);
    for (const Words& words :
         {Words{"run", "-k", key, "--", "true"}, Words{"run", "-n", "-k", key, "--", "true"},
          Words{"lock", "acquire", key, "--lease", "1m"}, Words{"sem", "init", key, "1"}}) {
      const StopWatch watch;
      Rlock refused = rlock_with_url(replica.tcp_url(), words);
      CHECK(refused.exit_code(kDeadline) == 69);
      CHECK(watch.elapsed() < 3s);
      CHECK(contains(refused.err(), reason));
    }
  }
  Rlock inspect = rlock_with_url(replica.tcp_url(), {"inspect", "held"});
  CHECK(inspect.exit_code(kDeadline) == 0);
  CHECK(contains(inspect.out(), "lock, held"));

  Rlock waiter = rlock_with_url(replica.tcp_url(), {"run", "-w", "20s", "-k", "free", "--", "true"});
  CHECK(throughout([&] { return waiter.running(); }, 500ms));
  replica.cli({"REPLICAOF", "NO", "ONE"});
  CHECK(waiter.exit_code(kDeadline) == 0);
}

TEST_CASE("one server under two names is no quorum: 78 at once, and nothing is left") {
  RedisServer one{{.tcp = true}};
  const std::string twin = "redis://localhost:" + std::to_string(one.port());
  const std::string away = "redis://127.0.0.1:" + std::to_string(free_port());
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = one.tcp_url() + " " + twin + " " + away;
  for (const Words& words :
       {Words{"run", "-k", "k", "--", "true"}, Words{"run", "-n", "-k", "k", "--", "true"},
        Words{"run", "-w", "20s", "-k", "k", "--", "true"}, Words{"lock", "acquire", "k", "--lease", "1m"}}) {
    const StopWatch watch;
    Rlock rlock{words, options};
    CHECK(rlock.exit_code(kDeadline) == 78);
    CHECK(watch.elapsed() < 10s);
    CHECK(contains(rlock.err(), one.tcp_url() + " and " + twin + " are the same server, and it counts once"));
  }
  CHECK(one.keys().empty());
  Rlock doctor{{"doctor"}, options};
  CHECK(doctor.exit_code(kDeadline) == 1);
  CHECK(contains(doctor.out(), "  BAD  quorum       it is the same server as " + one.tcp_url()));
}

TEST_CASE("if other servers form the quorum, a server under two names is reported at the end at the latest") {
  RedisServer one{{.tcp = true}}, other;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] =
      other.url() + " " + one.tcp_url() + " redis://localhost:" + std::to_string(one.port());
  Rlock run{{"run", "-k", "k", "--", "sleep", "1"}, options};
  const int status = run.exit_code(kDeadline);
  CHECK((status == 78 || status == 0));
  CHECK(contains(run.err(), " are the same server, and it counts once"));
}

TEST_CASE("rlock asks a single server neither for its run id nor for its role") {
  RedisServer redis;
  Monitor monitor{redis};
  CHECK(redis.rlock("run", "-n", "-k", "k", "--", "true").exit_code() == 0);
  std::size_t commands = 0;
  for (const std::string& command : monitor.commands()) {
    CHECK(
        (!contains(command, "\"INFO\"") || !knows_hello(redis)));  // a server without HELLO is asked by INFO
    CHECK_FALSE(contains(command, "\"ROLE\""));
    ++commands;
  }
  CHECK(commands > 0);
}

TEST_CASE("the run ids of a quorum are asked for in the write that greets") {
  RedisServer one, two, three;
  Process::Options options = one.environment();
  options.env["RLOCK_URL"] += " " + two.url() + " " + three.url();
  Monitor monitor{one};
  CHECK(Rlock{{"run", "-n", "-k", "k", "--", "true"}, options}.exit_code() == 0);
  std::size_t infos = 0;
  for (const std::string& command : monitor.commands())
    infos += contains(command, "\"INFO\" \"server\"") ? 1 : 0;
  CHECK(infos == (knows_hello(one) ? 1 : 2));  // a server without HELLO gets a second connection
}
