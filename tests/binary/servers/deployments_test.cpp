// rlock run on deployments of several servers: a cluster, and a primary with Sentinels.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>

#include "support/cli.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/hello.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"

using namespace rlock::test;

namespace {

Rlock rlock_at(const std::string& url, Words arguments) {
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = url;
  return Rlock{std::move(arguments), options};
}

/// The server's answer; "" if it has closed the connection: Sentinel disconnects all clients of a server that
/// it promotes.
std::string ask_while_promoted(const RedisServer& server, const Words& words) {
  try {
    return RespClient{server.where()}.ask(words);
  } catch (const std::runtime_error&) {
    return "";
  }
}

}  // namespace

TEST_CASE("rlock run locks in a cluster: each type, several keys, hand-over, and nothing is left") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;

  for (const char* type : {"lock", "fair", "fenced", "read", "write", "spin", "plain"}) {
    CAPTURE(std::string{type});
    Rlock run =
        rlock_at(cluster.url(), {"run", "--type", type, "-k", std::string{"{foo}"} + type, "--", "true"});
    CHECK(run.exit_code(kDeadline) == 0);
  }
  Rlock several = rlock_at(cluster.url(1),
                           {"run", "-k", "a", "-k", "b", "-k", "c", "--", "sh", "-c", "echo $RLOCK_LOCKS"});
  CHECK(several.exit_code(kDeadline) == 0);
  CHECK(several.out() == "a b c\n");

  Rlock holder = rlock_at(cluster.url(), {"run", "-k", "foo", "--", "sleep", "60"});
  REQUIRE(eventually([&] { return cluster.node(2).has("foo"); }, kDeadline));
  Rlock refused = rlock_at(cluster.url(1), {"run", "-n", "-k", "foo", "--", "true"});
  CHECK(refused.exit_code(kDeadline) == 75);
  Rlock waiter = rlock_at(cluster.url(1), {"run", "-k", "foo", "--", "true"});
  const std::string channel = "redisson_lock__channel:{foo}";
  REQUIRE(eventually([&] { return cluster.node(2).listeners(channel) == 1; }, kDeadline));
  CHECK(eventually([&] { return cluster.node(2).cli({"PUBSUB", "SHARDNUMSUB", channel}).ends_with("\n1"); },
                   kDeadline));
  holder.signal(SIGTERM);
  CHECK(waiter.exit_code(kDeadline) == 0);

  std::string left;
  for (std::size_t i = 0; i < 3; ++i) left += cluster.node(i).keys();
  CHECK(left == "redisson_lock_token:{foo}fenced\n");  // fencing tokens outlive their locks
}

TEST_CASE("several keys of one slot of a cluster are taken by one script") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  const Words all{"run", "-n", "-k", "{foo}a", "-k", "{foo}b", "-k", "{foo}c", "--", "true"};
  REQUIRE(rlock_at(cluster.url(), all).exit_code(kDeadline) == 0);  // from now on the node knows the scripts
  RedisServer& node = cluster.owner_of("foo");
  Monitor monitor{node};
  CHECK(rlock_at(cluster.url(), all).exit_code(kDeadline) == 0);
  const auto asks = std::ranges::count_if(monitor.commands(), [](const auto& command) {
    const auto has = [&](const char* key) { return contains(command, key); };
    return has(R"("EVALSHA")") && has(R"( "{foo}a" )") && has(R"( "{foo}b" )") && has(R"( "{foo}c" )");
  });
  CHECK(asks == (knows_hello(node) ? 1 : 2));

  node.cli({"HSET", "{foo}b", "somebody:1", "1"});
  Rlock refused = rlock_at(cluster.url(), all);
  CHECK(refused.exit_code(kDeadline) == 75);
  CHECK(contains(refused.err(), "'{foo}b' is held by somebody:1"));
  CHECK(node.keys() == "{foo}b\n");
}

TEST_CASE("a name that a cluster cannot place is refused before anything is sent") {
  const std::string nobody = "redis+cluster://127.0.0.1:" + std::to_string(free_port());
  for (const char* name : {"a{b", "{}x", "a}b"}) {
    CAPTURE(std::string{name});
    Rlock run = rlock_at(nobody, {"run", "-k", name, "--", "true"});
    CHECK(run.exit_code(kDeadline) == 78);
    CHECK(contains(run.err(), "a cluster cannot keep"));
  }
  Rlock placed = rlock_at(nobody, {"run", "-k", "{a}b", "--", "true"});
  CHECK(placed.exit_code(kDeadline) == 69);
  Rlock with_db = rlock_at(nobody, {"run", "--db", "3", "-k", "k", "--", "true"});
  CHECK(with_db.exit_code(kDeadline) == 64);
}

TEST_CASE("rlock run keeps its lock through a planned failover of the primary that Sentinel names") {
  RedisServer primary{{.tcp = true}};
  RedisServer replica{{.tcp = true, .config = {"replicaof 127.0.0.1 " + std::to_string(primary.port())}}};
  REQUIRE(eventually([&] { return contains(replica.cli({"ROLE"}), "\nconnected\n"); }, kDeadline));
  SentinelServer sentinel{"mymaster", primary};
  const std::string url = "redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/mymaster";
  const std::string other = std::to_string(replica.port());
  REQUIRE(eventually([&] { return contains(sentinel.ask({"SENTINEL", "REPLICAS", "mymaster"}), other); },
                     kDeadline));

  // The lease is shorter than the time for which the old primary still answers as a primary.
  Rlock holder = rlock_at(url, {"run", "--lease", "8s", "-k", "k", "--", "sleep", "60"});
  REQUIRE(eventually([&] { return replica.has("k"); }, kDeadline));
  REQUIRE(eventually([&] { return sentinel.ask({"SENTINEL", "FAILOVER", "mymaster"}) == "OK"; }, kDeadline));
  REQUIRE(eventually([&] { return ask_while_promoted(replica, {"ROLE"}).starts_with("master"); }, kDeadline));

  const auto ttl = [&] { return std::stoll(RespClient{replica.where()}.ask({"PTTL", "k"})); };
  const long long before = ttl();
  CHECK(eventually([&] { return ttl() > before; }, kDeadline));  // renewed at the new primary
  CHECK(holder.running());
  holder.signal(SIGTERM);
  CHECK(holder.exit_code(kDeadline) == 128 + SIGTERM);
  CHECK(eventually([&] { return RespClient{replica.where()}.ask({"EXISTS", "k"}) == "0"; }, kDeadline));
}
