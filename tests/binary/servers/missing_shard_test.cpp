// A cluster with one dead shard, and Sentinels whose primary hangs: what rlock shows, and which server it
// names.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/cli.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"

using namespace rlock::test;

namespace {

std::string key_on(std::size_t third) {
  for (int number = 0;; ++number)
    if (ClusterServers::third_of("job" + std::to_string(number)) == third)
      return "job" + std::to_string(number);
}

}  // namespace

TEST_CASE("list and inspect show the living shards of a Cluster, name the dead one, and end with 69") {
  std::size_t gone = 2, one = 0, two = 1;
  SUBCASE("the last shard is dead") {}
  SUBCASE("the first shard is dead, which rlock asks for the slots") { std::swap(gone, one); }
  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url(one);
  const std::vector<std::string> keys{key_on(0), key_on(1), key_on(2)};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    cluster.node(i).cli({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
    REQUIRE(Rlock{{"lock", "acquire", "-q", keys[i], "--lease", "10m"}, options}.exit_code(kDeadline) == 0);
  }
  Rlock whole{{"list", "--json"}, options};
  CHECK(whole.exit_code(kDeadline) == 0);
  CHECK(contains(whole.out(), R"("complete":true)"));
  const std::string dead = std::to_string(cluster.node(gone).port());
  cluster.node(gone).kill();
  const std::vector<Words> calls{{"list", "--json"},
                                 {"list", "--all", "--json"},
                                 {"inspect", "--json"},
                                 {"inspect", "--json", keys[gone], keys[two], keys[one]}};
  for (const Words& call : calls) {
    CAPTURE(call.front());
    CAPTURE(call.size());
    Rlock rlock{call, options};
    CHECK(rlock.exit_code(kDeadline) == 69);
    const std::string out = rlock.out();
    CHECK(contains(out, '"' + keys[one] + '"'));
    CHECK(contains(out, '"' + keys[two] + '"'));
    CHECK_FALSE(contains(out, '"' + keys[gone] + '"'));
    CHECK(contains(out, R"("complete":false)"));
    CHECK(contains(rlock.err(), dead));
  }
  Rlock of_dead{{"inspect", keys[gone]}, options};
  CHECK(of_dead.exit_code(kDeadline) == 69);
  CHECK(of_dead.out() == "");
}

TEST_CASE("a node that the others have lost makes its own keys unusable, and no others") {
  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url(0);
  for (const std::string& key : {key_on(0), key_on(1)})
    REQUIRE(Rlock{{"lock", "acquire", "-q", key, "--lease", "10m"}, options}.exit_code(kDeadline) == 0);
  // The node forgets who it was, like one that starts with an empty disk. CLUSTER SLOTS then has its slots without a port.
  cluster.node(2).cli({"CLUSTER", "RESET", "HARD"});
  const auto lost = [&] { return contains(cluster.node(0).cli({"CLUSTER", "NODES"}), "noaddr"); };
  REQUIRE(eventually(lost, kDeadline));

  const Words skip{"run", "-n", "--if-unreachable", "run", "-k", key_on(0), "--", "echo", "ran"};
  Rlock busy{skip, options};
  CHECK(busy.exit_code(kDeadline) == 75);
  CHECK(busy.out() == "");
  Rlock listed{{"list", "--json"}, options};
  CHECK(listed.exit_code(kDeadline) == 69);
  CHECK(contains(listed.out(), '"' + key_on(0) + '"'));
  CHECK(contains(listed.out(), '"' + key_on(1) + '"'));
  CHECK(contains(listed.out(), R"("complete":false)"));
  for (const Words& words :
       {Words{"run", "-n", "-k", key_on(2), "--", "true"}, Words{"lock", "status", key_on(2)}}) {
    Rlock rlock{words, options};
    CHECK(rlock.exit_code(kDeadline) == 69);
    CHECK_MESSAGE(contains(rlock.err(), "the cluster has no port for the node that serves slot"),
                  rlock.err());
  }
}

TEST_CASE("a silent shard is awaited for all its keys together") {
  ClusterServers cluster;
  for (std::size_t i = 0; i < 3; ++i)
    cluster.node(i).cli({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
  Words words{"inspect", "--url", cluster.url(1), "--connect-timeout", "1s"};
  for (int i = 0; i < 1500; ++i) words.push_back("job" + std::to_string(i));
  cluster.node(2).freeze();
  Rlock rlock{words, Rlock::clean_environment()};
  CHECK(rlock.exit_code(kDeadline) == 69);  // one after the other, 24 at a time, they would take a minute
  CHECK(contains(rlock.err(), "cannot be read"));
  CHECK(contains(rlock.out(), "free"));
}

TEST_CASE("list, inspect and metrics of a Cluster that is down end with 69, and print nothing") {
  std::size_t gone = 2;
  SUBCASE("the last primary is dead") {}
  SUBCASE("the first primary is dead") { gone = 0; }
  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url(1);
  for (const std::string& key : {key_on(0), key_on(1), key_on(2), "{" + key_on(1) + "}"})
    REQUIRE(Rlock{{"lock", "acquire", "-q", key, "--lease", "10m"}, options}.exit_code(kDeadline) == 0);
  cluster.node(gone).kill();
  const auto down = [&] { return contains(cluster.node(1).cli({"CLUSTER", "INFO"}), "cluster_state:fail"); };
  REQUIRE(eventually(down, kDeadline));
  for (Words call : std::vector<Words>{{"list"},
                                       {"list", "--all", "--json", key_on(1)},
                                       {"list", "{" + key_on(1) + "}"},
                                       {"inspect", "--json"},
                                       {"metrics"}}) {
    CAPTURE(call);
    call.insert(call.end(), {"--connect-timeout", "500ms", "--command-timeout", "500ms"});
    const bool inspects = call.front() == "inspect";  // it has no --scan-time: its search ends after 10 s
    if (!inspects) call.insert(call.end(), {"--scan-time", "1h"});
    Rlock rlock{call, options};
    CHECK(rlock.exit_code(inspects ? 9s : kDeadline) == 69);
    CHECK(rlock.out() == "");
    CHECK_FALSE(rlock.err() == "");
  }
}

TEST_CASE("list, inspect and metrics of a server that hangs in scripts end with 69, not after --scan-time") {
  if (RedisServer::version() < 60200) return skipped("CLIENT PAUSE WRITE needs Redis 6.2");
  RedisServer redis;
  for (int key = 0; key < 300; ++key)
    redis.cli({"HSET", "k" + std::to_string(key), "4a1f2c3e-0000-4000-8000-000000000001:1", "1"});
  REQUIRE(redis.rlock("lock", "acquire", "-q", "k", "--lease", "10m").exit_code(kDeadline) == 0);
  REQUIRE(redis.cli({"CLIENT", "PAUSE", "100000", "WRITE"}) == "OK");
  for (Words call : std::vector<Words>{{"list"}, {"list", "--all", "--json"}, {"inspect"}, {"metrics"}}) {
    CAPTURE(call);
    call.insert(call.end(), {"--connect-timeout", "500ms", "--command-timeout", "500ms"});
    const bool inspects = call.front() == "inspect";  // it has no --scan-time: its search ends after 10 s
    if (!inspects) call.insert(call.end(), {"--scan-time", "1h"});
    Rlock rlock{call, redis.environment()};
    CHECK(rlock.exit_code(inspects ? 9s : kDeadline) == 69);
    CHECK(rlock.out() == "");
  }
}

TEST_CASE("the message names the address that failed, not the one that was typed") {
  ClusterServers cluster;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url(0);
  const std::string dead = std::to_string(cluster.node(2).port());
  cluster.node(2).kill();
  for (const Words& wait : {Words{"-n"}, Words{"-w", "2s"}}) {
    CAPTURE(wait.back());
    Words words{"run", "-k", key_on(2), "--", "true"};
    words.insert(words.begin() + 1, wait.begin(), wait.end());
    Rlock run{words, options};
    CHECK(run.exit_code(kDeadline) == 69);
    CHECK_MESSAGE(contains(run.err(), ":" + dead), run.err());
  }
}

TEST_CASE("with a hanging primary behind Sentinels, the message names the primary") {
  RedisServer primary{{.tcp = true}};
  const SentinelServer sentinel{"mymaster", primary};
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/mymaster";
  REQUIRE(Rlock{{"run", "-w", "20s", "-k", "k", "--", "true"}, options}.exit_code(kDeadline) == 0);
  primary.freeze();
  for (const Words& wait : {Words{"-n"}, Words{"-w", "2s"}}) {
    CAPTURE(wait.back());
    Words words{"run", "-k", "k", "--", "true"};
    words.insert(words.begin() + 1, wait.begin(), wait.end());
    Rlock run{words, options};
    CHECK(run.exit_code(kDeadline) == 69);
    CHECK_MESSAGE(contains(run.err(), ":" + std::to_string(primary.port())), run.err());
  }
  primary.thaw();
}
