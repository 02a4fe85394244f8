// rlock inspect with every content that a key may have: text for people, JSON for programs.

#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const std::string kJava = "8d1f2c3a-1111-2222-3333-444455556666:57";
const std::string kOurs = "6f3a0000-1111-2222-3333-444455556666:1";

/// Replaces each duration by "DUR": durations differ from run to run.
std::string without_times(const std::string& text) {
  static const std::regex kDuration{R"(\b\d+(\.\d+)?(ms|s|m|h|d)(\d\d[smh])?\b)"};
  return std::regex_replace(text, kDuration, "DUR");
}

/// Replaces each number of more than three digits in JSON by 0: such numbers are times and remaining leases.
std::string without_numbers(const std::string& json) {
  static const std::regex kNumber{R"(:\d{4,})"};
  return std::regex_replace(json, kNumber, ":0");
}

/// A server, and the keys that a test puts on it.
class InspectedServer {
 public:
  std::string text(const Words& keys) { return without_times(output({"inspect"}, keys)); }

  /// The content of the document's `keys`.
  std::string json(const Words& keys) {
    const std::string document = without_numbers(output({"inspect", "--json"}, keys));
    const std::string head = R"({"v":1,"complete":true,"keys":[)";
    REQUIRE(document.starts_with(head));
    return document.substr(head.size(), document.size() - head.size() - 3);
  }

  std::string output(Words words, const Words& keys) {
    words.insert(words.end(), keys.begin(), keys.end());
    Rlock rlock{words, redis.environment()};
    REQUIRE(rlock.exit_code() == 0);
    return rlock.out();
  }

  /// Writes the facts of a hold that began `since` seconds ago and was renewed `renewed` seconds ago.
  void facts(const std::string& key, const std::string& owner, int since, int renewed,
             const std::string& more = R"("exit":null)", const std::string& ended = "null") {
    const long long now = std::stoll(redis.cli({"TIME"})) * 1000;
    const std::string times = "{\"since\":" + std::to_string(now - since * 1000) +
                              ",\"renewed\":" + std::to_string(now - renewed * 1000) +
                              ",\"lease_ms\":30000,\"ended_at\":" +
                              (ended == "null" ? ended : std::to_string(now - std::stoi(ended) * 1000));
    redis.cli({"HSET", "rlock:meta:{" + key + "}", owner,
               times + R"(,"host":"ci-7","pid":4121,"user":"alice","command":"make",)" + more + "}"});
  }

  RedisServer redis;
};

const std::string kNoOthers =
    R"("more_holders":0,"waiters":[],"subscribers":0,"permits":null,"count":null,"fence":null,"server":null,"stale":false,"last":null})";
const std::string kMetaJson =
    R"("meta":{"host":"ci-7","pid":0,"user":"alice","command":"make","reason":null,"labels":{},"url":null,"since":0,"lease_ms":0,)"
    R"("renews":true,"renewed_at":0,"ended_at":null,"exit":null})";

std::string holder_json(const std::string& owner, const std::string& more) {
  return R"({"owner":")" + owner +
         R"(","mode":"exclusive","count":1,"ttl_ms":0,"fence":null,"slot":null,"permit_id":null,)" + more +
         "}";
}

}  // namespace

TEST_CASE("a free key is named, and is free") {
  InspectedServer scene;
  CHECK(scene.text({"nightly"}) == "nightly       free\n");
  CHECK(scene.json({"nightly"}) ==
        R"({"key":"nightly","name":"nightly","type":"none","state":"free","ttl_ms":-1,"holders":[],)" +
            kNoOthers);
}

TEST_CASE("a lock of rlock shows its holder, with reason, labels and the job's address") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "deploy", kOurs, "1"});
  scene.redis.cli({"PEXPIRE", "deploy", "26000"});
  scene.facts(
      "deploy", kOurs, 723, 4,
      R"("reason":"hotfix 42","labels":{"stage":"prod","team":"core"},"url":"https://ci.example/jobs/881","exit":null)");
  CHECK(scene.text({"deploy"}) ==
        "deploy        lock, held\n"
        "  alice@ci-7 pid 4121 (make) for DUR \"hotfix 42\"\n"
        "  https://ci.example/jobs/881\n"
        "  stage=prod team=core\n"
        "  owner 6f3a00...:1, renewed DUR ago, expires in DUR if the holder is dead\n");
  const std::string json = scene.json({"deploy"});
  CHECK(contains(
      json,
      R"("reason":"hotfix 42","labels":{"stage":"prod","team":"core"},"url":"https://ci.example/jobs/881")"));
}

TEST_CASE("the JSON of a lock of rlock has its holder and the holder's facts") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "deploy", kOurs, "1"});
  scene.redis.cli({"PEXPIRE", "deploy", "26000"});
  scene.facts("deploy", kOurs, 723, 4);
  CHECK(scene.json({"deploy"}) ==
        R"({"key":"deploy","name":"deploy","type":"lock","state":"held","ttl_ms":0,"holders":[)" +
            holder_json(kOurs, kMetaJson) + "]," + kNoOthers);
}

TEST_CASE("a Java holder is named as such") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "orders", kJava, "1"});
  scene.redis.cli({"PEXPIRE", "orders", "21000"});
  CHECK(scene.text({"orders"}) ==
        "orders        lock, held\n"
        "  8d1f2c...:57 (a Redisson client), expires in DUR unless the holder renews it\n");
  CHECK(scene.json({"orders"}) ==
        R"({"key":"orders","name":"orders","type":"lock","state":"held","ttl_ms":0,"holders":[)" +
            holder_json(kJava, R"("meta":null)") + "]," + kNoOthers);
}

TEST_CASE("a lock without a TTL never expires") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "orders", kJava, "1"});
  CHECK(scene.text({"orders"})
            .ends_with("  8d1f2c...:57 (a Redisson client), no TTL: the key never expires\n"));
  CHECK(contains(scene.json({"orders"}), R"("ttl_ms":-1,"holders":[{)"));
}

TEST_CASE("a lock that was entered three times shows the count") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "orders", kJava, "3"});
  scene.redis.cli({"PEXPIRE", "orders", "21000"});
  CHECK(scene.text({"orders"}).ends_with(", expires in DUR unless the holder renews it, entered 3 times\n"));
  CHECK(contains(scene.json({"orders"}), R"("count":3)"));
}

TEST_CASE("a key that --min-hold keeps shows how its command ended") {
  InspectedServer scene;
  Rlock run = scene.redis.rlock("run", "-k", "report", "--min-hold", "5m", "--", "sh", "-c", "exit 3");
  CHECK(run.exit_code() == 3);
  const std::string text = scene.text({"report"});
  CHECK(text.starts_with("report        lock, kept\n  "));
  CHECK(text.ends_with(" (sh -c) finished DUR ago (exit 3), DUR more by --min-hold\n"));
  const std::string json = scene.json({"report"});
  CHECK(contains(json, R"("type":"lock","state":"kept")"));
  CHECK(contains(json, R"("ended_at":0,"exit":3})"));
}

TEST_CASE("a holder that has not renewed for most of its lease looks dead") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "deploy", kOurs, "1"});
  scene.redis.cli({"PEXPIRE", "deploy", "9000"});
  scene.facts("deploy", kOurs, 723, 21);
  CHECK(scene.text({"deploy"})
            .ends_with("  owner 6f3a00...:1, not renewed for DUR: the holder looks dead; expires in DUR\n"));
}

TEST_CASE("hostile names, owners and facts print nothing that a terminal would obey") {
  InspectedServer scene;
  const std::string key = "a\x1b[2Jb\nc";
  scene.redis.cli({"HSET", key, "\x1b]0;x\a:1", "1"});
  scene.redis.cli({"PEXPIRE", key, "9000"});
  Rlock inspect = scene.redis.rlock("inspect", key);
  CHECK(inspect.exit_code() == 0);
  CHECK(inspect.out().starts_with("a\\x1b[2Jb\\x0ac  lock, held\n  \\x1b]0;x\\x07:1 (unknown), expires in "));
  CHECK(scene.json({key}).starts_with(
      R"({"key":"a\u001b[2Jb\nc","name":"a\u001b[2Jb\nc","type":"lock","state":"held")"));
  CHECK(contains(scene.json({key}), R"({"owner":"\u001b]0;x\u0007:1")"));

  scene.redis.cli({"HSET", "deploy", kOurs, "1"});
  scene.facts("deploy", kOurs, 1, 1,
              "\"reason\":\"\\u001b[31m\\u202e\",\"labels\":{\"\\n\":\"\\u009b\"},\"exit\":null");
  const std::string text = scene.output({"inspect"}, {"deploy"});
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK(contains(text, "\"\\x1b[31m\\xe2\\x80\\xae\""));
  CHECK(split(text, '\n').size() == 5);
}

TEST_CASE("bytes that are no UTF-8 become U+FFFD in JSON") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "\xFF", kJava, "1"});
  CHECK(scene.text({"\xFF"}).starts_with("\\xff          lock, held\n"));
  CHECK(scene.json({"\xFF"}).starts_with(R"({"key":"\ufffd",)"));
}

TEST_CASE("keys of other types are named as such, and are no failure") {
  InspectedServer scene;
  scene.redis.cli({"RPUSH", "list", "x"});
  scene.redis.cli({"SADD", "set", "x"});
  scene.redis.cli({"ZADD", "zset", "1", "x"});
  scene.redis.cli({"HSET", "hash", "name", "value"});
  scene.redis.cli({"XADD", "stream", "*", "a", "b"});
  CHECK(scene.text({"list", "set", "zset", "hash", "stream"}) ==
        "list          a list, not a lock\n"
        "set           a set, not a lock\n"
        "zset          a zset, not a lock\n"
        "hash          a hash, not a lock\n"
        "stream        a stream, not a lock\n");
  CHECK(scene.json({"list"}) ==
        R"({"key":"list","name":"list","type":"foreign","state":"held","ttl_ms":-1,"holders":[],)" +
            kNoOthers);
}

TEST_CASE("a plain lock shows the beginning of its token") {
  InspectedServer scene;
  scene.redis.cli({"SET", "plain", "token-of-somebody", "PX", "900000"});
  CHECK(scene.text({"plain"}) ==
        "plain         plain, held\n  token-... (unknown), expires in DUR unless the holder renews it\n");
  CHECK(scene.json({"plain"}).starts_with(
      R"({"key":"plain","name":"plain","type":"plain","state":"held","ttl_ms":0,"holders":[{"owner":"token-of-somebody",)"));
}

TEST_CASE("readers share a lock, and each has its lines") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "rw", "mode", "read", kOurs, "1", kJava, "2"});
  scene.redis.cli({"SET", "{rw}:" + kOurs + ":rwlock_timeout:1", "1", "PX", "21000"});
  scene.redis.cli({"SET", "{rw}:" + kJava + ":rwlock_timeout:2", "1", "PX", "21000"});
  scene.redis.cli({"PEXPIRE", "rw", "21000"});
  scene.facts("rw", kOurs, 60, 2);
  CHECK(
      scene.text({"rw"}) ==
      "rw            read-write, held\n"
      "  reads   alice@ci-7 pid 4121 (make) for DUR\n"
      "          owner 6f3a00...:1, renewed DUR ago, expires in DUR if the holder is dead\n"
      "  reads   8d1f2c...:57 (a Redisson client), expires in DUR unless the holder renews it, entered 2 times\n");
  CHECK(contains(scene.json({"rw"}), R"("type":"read-write","state":"held")"));
  CHECK(contains(scene.json({"rw"}), R"("mode":"read","count":2)"));
}

TEST_CASE("a writer that also reads has both of its holds") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "rw", "mode", "write", kJava + ":write", "1", kJava, "1"});
  scene.redis.cli({"SET", "{rw}:" + kJava + ":rwlock_timeout:1", "1", "PX", "21000"});
  scene.redis.cli({"PEXPIRE", "rw", "21000"});
  CHECK(scene.text({"rw"}) ==
        "rw            read-write, held\n"
        "  writes  8d1f2c...:57 (a Redisson client), expires in DUR unless the holder renews it\n"
        "  reads   8d1f2c...:57 (a Redisson client), expires in DUR unless the holder renews it\n");
  CHECK(contains(scene.json({"rw"}), R"("mode":"write")"));
}

TEST_CASE("a fenced lock shows its token") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "f", kJava, "1"});
  scene.redis.cli({"SET", "redisson_lock_token:{f}", "41"});
  CHECK(scene.text({"f"}).starts_with("f             fenced, held\n"));
  CHECK(scene.text({"f"}).ends_with(", fence 41\n"));
  CHECK(contains(scene.json({"f"}), R"("fence":41)"));
}

TEST_CASE("a fair lock shows its queue") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "fair", kJava, "1"});
  scene.redis.cli({"PEXPIRE", "fair", "21000"});
  scene.redis.cli({"RPUSH", "redisson_lock_queue:{fair}", "b:1", "c:1"});
  const long long now = std::stoll(scene.redis.cli({"TIME"})) * 1000;
  scene.redis.cli({"ZADD", "redisson_lock_timeout:{fair}", std::to_string(now + 20'000), "b:1"});
  CHECK(scene.text({"fair"}).starts_with("fair          fair, held, 2 wait\n"));
  CHECK(
      without_times(scene.output({"inspect", "-v"}, {"fair"})) ==
      "fair          fair, held, 2 wait\n"
      "  8d1f2c3a-1111-2222-3333-444455556666:57 (a Redisson client), expires in DUR unless the holder renews it\n"
      "  waits 1: b:1, forgotten in DUR unless it asks again\n"
      "  waits 2: c:1, forgotten in DUR unless it asks again\n"
      "  keys fair, rlock:meta:{fair}\n");
  CHECK(contains(scene.json({"fair"}),
                 R"("waiters":[{"owner":"b:1","position":1,"ttl_ms":0,"meta":null,"since":null},)"));
}

TEST_CASE("waiters of a lock are counted by their subscriptions") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "orders", kJava, "1"});
  scene.redis.cli({"PEXPIRE", "orders", "60000"});
  Rlock first = scene.redis.rlock("run", "-k", "orders", "--", "true");
  REQUIRE(eventually([&] { return scene.redis.listeners("redisson_lock__channel:{orders}") == 1; }));
  CHECK(scene.text({"orders"}).starts_with("orders        lock, held, 1 waits\n"));
  Rlock second = scene.redis.rlock("run", "-k", "orders", "--", "true");
  REQUIRE(eventually([&] { return scene.redis.listeners("redisson_lock__channel:{orders}") == 2; }));
  CHECK(scene.text({"orders"}).starts_with("orders        lock, held, 2 wait\n"));
  CHECK(contains(scene.json({"orders"}), R"("subscribers":2)"));
}

TEST_CASE("waiters are shown with their facts, for every kind of key") {
  const std::vector<std::pair<Words, Words>> types{
      {{"--type", "lock"}, {"--type", "lock"}},     {{"--type", "fair"}, {"--type", "fair"}},
      {{"--type", "fenced"}, {"--type", "fenced"}}, {{"--type", "write"}, {"--type", "read"}},
      {{"--type", "read"}, {"--type", "write"}},    {{"--permits", "1"}, {"--permits", "1"}}};
  for (const auto& [held, wanted] : types) {
    CAPTURE(joined(wanted, " "));
    InspectedServer scene;
    const auto run = [&](const Words& type, const Words& more) {
      Words words{"run", "-k", "orders"};
      words.insert(words.end(), type.begin(), type.end());
      words.insert(words.end(), more.begin(), more.end());
      return Rlock{words, scene.redis.environment()};
    };
    const Rlock holder = run(held, {"--", "sleep", "60"});
    REQUIRE(eventually([&] { return scene.redis.has("orders"); }));
    const Rlock waiter = run(wanted, {"--reason", "hotfix 42", "--label", "team=core", "--", "true"});
    nlohmann::json first;
    REQUIRE(eventually([&] {
      const auto key = nlohmann::json::parse(scene.output({"inspect", "--json"}, {"orders"}))["keys"][0];
      if (key["waiters"].empty() || key["waiters"][0]["meta"].is_null()) return false;
      first = key["waiters"][0];
      return true;
    }));
    for (const std::string& key : split(scene.redis.keys(), '\n'))
      if (key.ends_with(":facts")) CHECK(scene.redis.pttl(key) > 0);
    CHECK(first["position"] == 1);
    CHECK(first["since"] > 1600000000000);
    CHECK(first["meta"]["reason"] == "hotfix 42");
    CHECK(first["meta"]["labels"]["team"] == "core");
    CHECK(first["meta"]["pid"] == waiter.pid());
    const std::string text = scene.output({"inspect", "-v"}, {"orders"});
    CHECK_MESSAGE(contains(text, "\"hotfix 42\""), text);
  }
}

TEST_CASE("a pool of permits shows slots and free permits") {
  InspectedServer scene;
  const long long now = std::stoll(scene.redis.cli({"TIME"})) * 1000;
  scene.redis.cli({"SET", "seats", "3"});
  scene.redis.cli({"ZADD", "{seats}:timeout", std::to_string(now + 12'000), "0123456789abcdef"});
  scene.redis.cli({"ZADD", "{seats}:timeout", std::to_string(now - 1'000), "fedcba9876543210"});
  CHECK(scene.text({"seats"}) ==
        "seats         permit, 1 of 5 taken\n"
        "  -       303132... (a Redisson client), lease ends in DUR\n");
  CHECK(contains(scene.json({"seats"}), R"("permits":{"available":4,"total":5})"));
}

TEST_CASE("a pool with more permits than an inspection reads has its size in every output") {
  InspectedServer scene;
  scene.redis.cli({"SET", "seats", "0"});
  scene.redis.cli(
      {"EVAL",
       "for i = 1, 200 do local t = {} for j = 1, 1000 do t[2 * j - 1], t[2 * j] = '99999999999999', "
       "string.format('%08d%08d', i, j) end redis.call('zadd', KEYS[1], unpack(t)) end",
       "1", "{seats}:timeout"});
  CHECK(scene.output({"permit", "status"}, {"seats"}) == "seats: 0 of 200000 available\n");
  const std::string text = scene.text({"seats"});
  CHECK_MESSAGE(text.starts_with("seats         permit, 200000 of 200000 taken\n"), text.substr(0, 100));
  CHECK(text.ends_with("\n  and 199000 more\n"));
  const std::string list = scene.output({"list", "--all"}, {});
  CHECK_MESSAGE(contains(list, " and 199999 more  0/200000 "), list);
  CHECK(contains(scene.output({"inspect", "--json"}, {"seats"}),
                 R"("permits":{"available":0,"total":200000})"));
}

TEST_CASE("a semaphore and a latch are numbers") {
  InspectedServer scene;
  scene.redis.cli({"SET", "number", "3"});
  CHECK(scene.text({"number"}) == "number        semaphore, 3 available\n");
  CHECK(contains(scene.json({"number"}), R"("type":"semaphore","state":"open")"));
  scene.redis.cli({"HSET", "rlock:meta:{number}", "latch", R"({"total":5,"set":1,"opened":null})"});
  CHECK(scene.text({"number"}) == "number        latch, closed, 3 to go\n");
  scene.redis.del("number");
  scene.redis.cli({"HSET", "rlock:meta:{number}", "latch", R"({"total":5,"set":1,"opened":2})"});
  CHECK(scene.text({"number"}) == "number        latch, open\n");
  CHECK(contains(scene.json({"number"}), R"("type":"latch","state":"open")"));
}

TEST_CASE("a fenced lock that is free is still one: its token remains, so that the next is greater") {
  InspectedServer scene;
  scene.redis.cli({"SET", "redisson_lock_token:{deploy}", "7"});
  CHECK(scene.text({"deploy"}) == "deploy        fenced, free, newest token 7\n");
  const std::string json = scene.json({"deploy"});
  CHECK(json.starts_with(
      R"({"key":"deploy","name":"deploy","type":"fenced","state":"free","ttl_ms":-1,"holders":[],)"));
  CHECK(contains(json, R"("count":null,"fence":7,"server":null)"));
  CHECK(Rlock{{"lock", "status", "-q", "deploy"}, scene.redis.environment()}.exit_code() == 1);
  CHECK(Rlock{{"unlock", "--yes", "deploy"}, scene.redis.environment()}.exit_code() == 1);
}

TEST_CASE("junk in the place of facts is ignored") {
  InspectedServer scene;
  for (const std::string junk :
       {"", "x", "{", "[]", "{\"since\":-1}", "{\"pid\":\"x\",\"host\":7}", "\xFF"}) {
    CAPTURE(junk);
    scene.redis.cli({"HSET", "deploy", kOurs, "1"});
    scene.redis.cli({"HSET", "rlock:meta:{deploy}", kOurs, junk});
    CHECK(scene.text({"deploy"}).starts_with("deploy        lock, held\n"));
  }
  scene.redis.del("rlock:meta:{deploy}");
  scene.redis.cli({"SET", "rlock:meta:{deploy}", "not a hash"});
  CHECK(scene.text({"deploy"}).starts_with("deploy        lock, held\n"));
}

TEST_CASE("without a key every key with metadata is shown, others are not") {
  InspectedServer scene;
  for (const std::string key : {"b", "a", "{tag}c", "other"}) scene.redis.cli({"HSET", key, kOurs, "1"});
  scene.facts("b", kOurs, 1, 1);
  scene.facts("a", kOurs, 1, 1);
  scene.redis.cli({"HSET", "rlock:meta:{tag}c", kOurs, "{}"});
  CHECK(scene.output({"inspect", "-q"}, {}) == "a\nb\n{tag}c\n");
  CHECK(scene.output({"inspect", "-q", "--prefix", "{tag}"}, {}) == "c\n");
}

TEST_CASE("listeners are shown with the names of their connections, if the user may read them") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "deploy", kOurs, "1"});
  scene.redis.cli({"PEXPIRE", "deploy", "60000"});
  Rlock waiter = scene.redis.rlock("run", "-q", "-k", "deploy", "--", "true");
  REQUIRE(eventually([&] { return scene.redis.listeners("redisson_lock__channel:{deploy}") == 1; }));
  const std::string pid = ":" + std::to_string(waiter.pid());
  const std::string text = scene.output({"inspect", "-v"}, {"deploy"});
  const auto line = text.find("listening, for these keys or others: rlock:");
  REQUIRE(line != std::string::npos);
  CHECK(text.find(pid, line) != std::string::npos);
  CHECK_FALSE(contains(scene.output({"inspect"}, {"deploy"}), "listening"));
  scene.redis.del("deploy");
  waiter.signal(SIGTERM);
  CHECK(waiter.exit_code() >= 0);
}

TEST_CASE("a key is never a pattern") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "deploy", kOurs, "1"});
  CHECK(scene.text({"*"}) == "*             free\n");
}

TEST_CASE("inspect changes nothing") {
  InspectedServer scene;
  scene.redis.cli({"HSET", "deploy", kOurs, "1"});
  scene.redis.cli({"SET", "number", "3"});
  const std::string before = scene.redis.keys();
  scene.text({"deploy", "number", "nothing"});
  CHECK(scene.redis.keys() == before);
}

TEST_CASE("inspect works for a user with rights for locks only") {
  InspectedServer scene;
  scene.redis.cli({"ACL",       "SETUSER",       "looker",          "on",
                   ">pw",       "resetkeys",     "~app:*",          "~redisson_*:{app:*}*",
                   "~{app:*}*", "resetchannels", "&redisson_*",     "-@all",
                   "+hello",    "+auth",         "+client|setname", "+evalsha",
                   "+eval",     "+type",         "+hget",           "+hlen",
                   "+hgetall",  "+pttl",         "+lrange",         "+zrange",
                   "+get",      "+getrange",     "+strlen",         "+time",
                   "+hkeys",    "+hstrlen",      "+hexists"});
  scene.redis.cli({"HSET", "app:k", kOurs, "1"});
  Process::Options options = scene.redis.environment();
  options.env["RLOCK_URL"] = "unix://looker:pw@" + scene.redis.socket();
  Rlock inspect{{"inspect", "app:k"}, options};
  CHECK(inspect.exit_code() == 0);
  CHECK(inspect.out().starts_with("app:k         lock, held\n"));
  Rlock other{{"inspect", "other"}, options};
  CHECK(other.exit_code() == 77);
}

TEST_CASE("a holder that waited before does not count as a waiter") {
  RedisServer redis;
  TempDir folder;
  const std::string until_gate = "until [ -e " + (folder / "gate") + " ]; do sleep 0.01; done";
  Rlock first = redis.rlock("run", "-k", "k", "-c", until_gate);
  REQUIRE(eventually([&] { return redis.has("k"); }));
  Rlock second = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }));
  write_file(folder / "gate", "");
  CHECK(first.exit_code() == 0);
  CHECK(eventually([&] {
    Rlock inspect = redis.rlock("inspect", "--json", "k");
    return inspect.exit_code() == 0 && contains(inspect.out(), R"("subscribers":0)");
  }));
  second.signal(SIGTERM);
  CHECK(second.exit_code() != 0);
}
