// rlock doctor: what makes a server unfit for locks, and the texts about it.

#include <doctest/doctest.h>

#include <algorithm>

#include "cmd/verbs/diagnosis.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

std::string bad_subjects(const std::string& info) {
  std::string subjects;
  for (const Finding& finding : diagnose(parse_info(info))) {
    if (finding.verdict != Finding::Verdict::fit) subjects += finding.subject + " ";
  }
  return subjects;
}

}  // namespace

TEST_CASE("doctor judges a server's own facts by the needs of locks") {
  CHECK(bad_subjects("role:master\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\naof_enabled:1\r\n") ==
        "");
  CHECK(bad_subjects("role:master\r\nmaxmemory:100\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n") ==
        "");
  CHECK(bad_subjects("role:master\r\nmaxmemory:100\r\nmaxmemory_policy:volatile-ttl\r\naof_enabled:1\r\n") ==
        "eviction ");
  CHECK(bad_subjects("role:master\r\naof_enabled:0\r\n") == "persistence ");
  CHECK(bad_subjects("role:slave\r\nmaster_host:db1\r\n") == "role ");
}

TEST_CASE("unknown facts of a server are not judged, and junk is ignored") {
  CHECK(diagnose(parse_info("")).empty());
  CHECK(diagnose(parse_info("# Server\n\n:::\nx\n")).empty());
}

TEST_CASE("doctor counts the replicas that may forget a lock") {
  const auto text = [](const std::string& replicas) {
    return diagnose(parse_info("role:master\nconnected_slaves:" + replicas + "\n")).back().text;
  };
  CHECK(text("0").starts_with("no replicas: "));
  CHECK(text("1").starts_with("1 replica: "));
  CHECK(text("2").starts_with("2 replicas: "));
}

TEST_CASE("a server with persistence and without eviction is fit") {
  RedisServer redis{{.config = {"appendonly yes"}}};
  Rlock doctor = redis.rlock("doctor");
  CHECK(doctor.exit_code() == 0);
  CHECK_FALSE(contains(doctor.out(), "BAD"));
  CHECK(contains(doctor.out(), "  ok   persistence  appendonly is on"));
  CHECK(redis.keys().empty());
}

TEST_CASE("a finding is status 1, in text and in JSON") {
  RedisServer redis{{.config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}}};
  Rlock doctor = redis.rlock("doctor");
  CHECK(doctor.exit_code() == 1);
  CHECK(contains(doctor.out(), "  BAD  eviction     maxmemory-policy is allkeys-lru"));

  Rlock json = redis.rlock("doctor", "--json");
  CHECK(json.exit_code() == 1);
  CHECK(json.out().starts_with(R"({"v":1,"fit":false,"servers":[{"server":"unix://)"));
  CHECK(contains(json.out(), R"({"subject":"eviction","fit":false,)"));
}

TEST_CASE("doctor finds nothing good about an unreachable server") {
  RedisServer one, two;
  Process::Options options = one.environment();
  options.env["RLOCK_URL"] += " " + two.url() + " unix:///nonexistent/redis.sock";
  Rlock doctor{{"doctor"}, options};
  CHECK(doctor.exit_code() == 1);
  const std::string away = doctor.out().substr(doctor.out().find("unix:///nonexistent"));
  CHECK(contains(away, "BAD  answer"));
  CHECK_FALSE(contains(away, "  ok "));
}

TEST_CASE("a node of a cluster is named as such, with the right URL, and a cluster primary by primary") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  const auto doctor_at = [&](const std::string& url) {
    return Rlock{{"doctor", "-u", url}, Rlock::clean_environment()};
  };
  const std::string node = "127.0.0.1:" + std::to_string(cluster.node(0).port());
  Rlock lone = doctor_at("redis://" + node);
  CHECK(lone.exit_code(30s) == 1);
  CHECK(contains(lone.out(),
                 "  BAD  url          it is a node of a cluster, and serves its own keys only: use --url "
                 "redis+cluster://" +
                     node));

  SUBCASE("as it is") {}
  SUBCASE("its nodes do not announce their host") {
    for (std::size_t i = 0; i < 3; ++i)
      cluster.node(i).cli({"CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint"});
  }
  Rlock whole = doctor_at("redis+cluster://" + node);
  CHECK(whole.exit_code(30s) == 1);  // the nodes do not persist
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = "127.0.0.1:" + std::to_string(cluster.node(i).port());
    const auto at = whole.out().find(name + "\n");
    REQUIRE(at != std::string::npos);
    CHECK(whole.out().find(name + "\n", at + 1) == std::string::npos);
  }
  CHECK_FALSE(contains(whole.out(), "BAD  url"));
  CHECK(std::ranges::count(whole.out(), '\n') == 3 * 7);
}

TEST_CASE("a password that one of several servers refuses is one finding") {
  RedisServer one, two, secret{{.config = {"requirepass hunter2"}}};
  Process::Options options = one.environment();
  options.env["RLOCK_URL"] += " " + two.url() + " " + secret.url();
  Rlock doctor{{"doctor"}, options};
  CHECK(doctor.exit_code() == 1);
  const std::string refused = doctor.out().substr(doctor.out().find(secret.url()));
  CHECK(contains(refused, "BAD  answer       the server asks for a password"));
  CHECK(std::ranges::count(refused, '\n') == 2);
}

TEST_CASE("a server that shows none of its settings is not called fit without a word") {
  FakeRedis fake;
  for (const char* form : {"EVALSHA", "EVAL"}) fake.on(form, wire::array({wire::text("able")}));
  for (const std::string& info : {wire::integer(1), wire::text("# Server\r\nx:y\r\n")}) {
    fake.on("INFO", info);
    Rlock doctor{{"doctor", "--url", fake.url()}};
    CHECK(doctor.exit_code() == 0);
    CHECK_MESSAGE(contains(doctor.out(), "settings     not looked at: INFO does not show them"),
                  doctor.out());
  }
  fake.on("INFO", wire::kSilence);
  Rlock silent{{"doctor", "--command-timeout", "300ms", "--connect-timeout", "300ms", "--url", fake.url()}};
  CHECK(silent.exit_code() == 1);
  CHECK_MESSAGE(contains(silent.out(), "BAD  settings     no answer"), silent.out());
}

TEST_CASE("a server is not fit if its scripts run, but cannot make a lock") {
  RedisServer redis{{.config = {"appendonly yes"}}};
  const auto scripting = [&](const std::string& user) {
    Process::Options options = redis.environment();
    if (!user.empty()) options.env["RLOCK_PASSWORD"] = user;
    Rlock doctor{user.empty() ? Words{"doctor"} : Words{"doctor", "--user", user}, options};
    const std::string status = std::to_string(doctor.exit_code());
    const std::string out = doctor.out();
    const std::size_t at = out.find("scripting");
    return at == std::string::npos ? doctor.err() : status + " " + out.substr(at, out.find('\n', at) - at);
  };
  CHECK(scripting("") == "0 scripting    scripts run");
  const std::string cannot = "1 scripting    scripts run, but cannot make a lock: ";
  for (const std::string command :
       {"hset", "hincrby", "set",     "pexpire", "hsetnx", "del",    "time",   "type",
        "pttl", "exists",  "hexists", "get",     "hget",   "zscore", "zcard",  "zrange",
        "hlen", "hstrlen", "hscan",   "hkeys",   "hdel",   "zadd",   "zcount", "zrem"}) {
    const bool writes = command == "hsetnx" || command == "del" || command == "hdel" || command == "zadd" ||
                        command == "zrem";
    if (RedisServer::version() < 70000 && writes) continue;
    redis.cli({"ACL", "SETUSER", command, "on", ">" + command, "~*", "+@all", "-" + command});
    if (RedisServer::version() >= 60200) redis.cli({"ACL", "SETUSER", command, "&*"});
    const std::string found = scripting(command);
    CHECK_MESSAGE(found.starts_with(cannot), command << ": " << found);
  }
  for (const std::string form : {"eval", "evalsha"}) {
    redis.cli({"ACL", "SETUSER", form, "on", ">" + form, "~*", "+@all", "-" + form});
    const std::string no_scripts = scripting(form);  // the server has the script by now
    CHECK_MESSAGE(no_scripts.starts_with("1 scripting    scripts do not run, and every lock is one: "),
                  no_scripts);
  }
  // With a prefix the rights for rlock's own keys beside a lock count, too.
  for (const auto& [rights, fit] : {std::pair{"~app:*", false}, std::pair{"~redisson_*:{app:*}*", true}}) {
    redis.cli({"ACL", "SETUSER", "app", "on", ">app", rights, "+@all"});
    Process::Options options = redis.environment();
    options.env["RLOCK_PASSWORD"] = "app";
    Rlock doctor{{"doctor", "--user", "app", "--prefix", "app:"}, options};
    CHECK(doctor.exit_code() == (fit ? 0 : 1));
    CHECK_MESSAGE(contains(doctor.out(), "scripting    scripts run\n") == fit, doctor.out());
  }
  // The key that doctor names holds something else: a string, a zset, or the hash of another program. It stays.
  for (const Words& other : {Words{"SET", "rlock:doctor", "1"}, Words{"ZADD", "rlock:doctor", "1", "m"},
                             Words{"HSET", "rlock:doctor", "f", "1"}}) {
    redis.cli(other);
    const std::string before = redis.cli({"DUMP", "rlock:doctor"});
    const std::string found = scripting("");
    CHECK_MESSAGE(found == "0 scripting    scripts run", other.front() << ": " << found);
    CHECK(redis.cli({"DUMP", "rlock:doctor"}) == before);
    redis.del("rlock:doctor");
  }
  redis.cli({"CONFIG", "SET", "min-replicas-to-write", "1"});
  const std::string alone = scripting("");
  CHECK_MESSAGE((alone.starts_with(cannot) && contains(alone, "NOREPLICAS")), alone);
  CHECK(redis.keys().empty());
}

TEST_CASE("what answers every command, but not as a script of rlock does, is no server for locks") {
  FakeRedis fake;
  for (const std::string& bytes : {wire::integer(5), wire::status("OK"), wire::array({wire::text("odd")})}) {
    fake.on("EVALSHA", bytes);
    CHECK(Rlock{{"doctor", "--url", fake.url()}}.exit_code() == 70);
  }
}

TEST_CASE("a missing server is a failure, and not a finding") {
  Process::Options nobody = Rlock::clean_environment();
  nobody.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  CHECK(Rlock{{"doctor"}, nobody}.exit_code() == 69);
}
