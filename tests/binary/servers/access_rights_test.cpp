// ACCESS RIGHTS in rlock-redisson(7): the manual's user, created word for word, may do what rlock does with
// keys that begin with app:, and no more. A use that needs more rights works with those that the manual names. It may
// neither touch the data of other clients nor run commands for administrators.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <set>

#include "base/text.h"
#include "scripts.h"
#include "support/cli.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/hello.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/resp_client.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The words ACL SETUSER locks ..., as the manual prints them.
Words recipe() {
  std::string page = read_file(std::string{RLOCK_SOURCE_FOLDER} + "/man/rlock-redisson.7");
  page = page.substr(page.find(".SH ACCESS RIGHTS"));
  const auto begin = page.find(".EX\n") + 4;
  std::string text = page.substr(begin, page.find(".EE") - begin);
  for (std::size_t at = 0; (at = text.find("\\-", at)) != std::string::npos;) text.erase(at, 1);
  std::ranges::replace(text, '\n', ' ');
  Words words = split(text, ' ');
  std::erase(words, "");
  return words;
}

/// A server with that user, and with the data of another client.
class RestrictedServer {
 public:
  RestrictedServer() {
    Words words = recipe();
    REQUIRE(words.front() == "ACL");
    if (RedisServer::version() < 60200)  // older servers have no rights for channels
      std::erase_if(words,
                    [](const std::string& word) { return word == "resetchannels" || word.starts_with('&'); });
    REQUIRE(redis.cli(words) == "OK");
    redis.cli({"HSET", "other", "somebody:1", "1"});
    redis.cli({"RPUSH", "redisson_lock_queue:{other}", "somebody:1"});
    redis.cli({"HSET", "rlock:meta:{other}", "somebody:1", "{}"});
    redis.cli({"ACL", "LOG", "RESET"});
  }

  void may(const Words& more) {
    for (const std::string& right : more) REQUIRE(redis.cli({"ACL", "SETUSER", "locks", right}) == "OK");
  }

  /// True: the server has refused none of its commands. A server without HELLO (tests/matrix --resp2) is not judged,
  /// because rlock also sends INFO to it, without the right to.
  bool refused_nothing() { return redis.cli({"ACL", "LOG"}).empty() || !knows_hello(redis); }

  Rlock start(const Words& words) const {
    Process::Options options = redis.environment();
    options.env["RLOCK_URL"] = url();
    return {words, options};
  }

  /// The exit status of a command line. The server must have refused none of its commands, not even optional
  /// ones.
  int status(const Words& words) {
    CAPTURE(joined(words, " "));
    Rlock rlock = start(words);
    const int status = rlock.exit_code(kDeadline);
    CHECK_FALSE_MESSAGE(contains(rlock.err(), "ACL"), rlock.err());
    CHECK(refused_nothing());
    return status;
  }

  std::string url() const { return "unix://locks:secret@" + redis.socket(); }

  RedisServer redis;
};

/// The commands that the scripts call, as their sources write them.
std::set<std::string> called_by_scripts() {
  std::set<std::string> commands;
  const std::regex call{
      R"re((?:call\(|in_pieces\(|write_with_ttl\(|if_type\('[a-z]+', |(?:list|hash|zset) = )'([a-z]+)')re"};
  for (const Script* script : scripts::all) {
    const std::string source{script->source};
    for (std::sregex_iterator found{source.begin(), source.end(), call}, end; found != end; ++found)
      commands.insert((*found)[1]);
  }
  return commands;
}

std::set<std::string> granted() {
  std::set<std::string> commands;
  for (const std::string& word : recipe()) {
    if (word.starts_with('+')) commands.insert(word.substr(1));
  }
  return commands;
}

const Words kLockTypes{"lock", "fair", "fenced", "spin", "read", "write", "plain"};

}  // namespace

TEST_CASE("the manual's rights are exactly the commands of scripts and connections") {
  std::set<std::string> used = called_by_scripts();
  REQUIRE(used.size() > 30);
  used.erase("spublish");  // called only in clusters
  used.merge(std::set<std::string>{"hello", "ping", "client|setname", "eval", "evalsha", "subscribe",
                                   "unsubscribe", "pubsub|numsub"});
  const std::set<std::string> given = granted();
  CHECK(joined({given.begin(), given.end()}, " ") == joined({used.begin(), used.end()}, " "));
}

TEST_CASE("the user of the manual runs commands under locks of every type, alone, several and nested") {
  RestrictedServer scene;
  for (const std::string& type : kLockTypes) {
    const std::string key = "app:" + type;
    CHECK(scene.status({"run", "--type", type, "-k", key, "--", "true"}) == 0);
    CHECK(scene.status({"run", "--type", type, "-k", key, "--min-hold", "50ms", "--lease", "2s", "--reason",
                        "r", "--", "sleep", "1"}) == 0);
    CHECK(scene.status({"run", "--type", type, "-k", key, "--", rlock_binary(), "run", "-u", scene.url(),
                        "--type", type, "-k", key, "--", "true"}) == 0);
    if (type != "fenced")
      CHECK(scene.status({"run", "--type", type, "-k", "app:a", "-k", key + "2", "--", "true"}) == 0);
  }
  CHECK(scene.status({"run", "--permits", "2", "-k", "app:pool", "--", rlock_binary(), "run", "-u",
                      scene.url(), "--permits", "2", "-k", "app:pool", "--", "true"}) == 0);
  CHECK(scene.status({"run", "--permits", "2", "--count", "2", "--min-hold", "10ms", "-k", "app:pool", "--",
                      "true"}) == 0);
}

TEST_CASE("the user of the manual waits and is woken, for every type that wakes") {
  RestrictedServer scene;
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "permit"}) {
    CAPTURE(type);
    const std::string key = "app:w-" + type;
    const Words kind = type == "permit" ? Words{"--permits", "1"} : Words{"--type", type};
    Words first{"run", "-k", key}, second{"run", "-w", "20s", "-k", key};
    first.insert(first.end(), kind.begin(), kind.end());
    if (type == "read") first.back() = "write";
    second.insert(second.end(), kind.begin(), kind.end());
    first.insert(first.end(), {"--", "sleep", "60"});
    second.insert(second.end(), {"--", "echo", "ran"});
    Rlock holder = scene.start(first);
    REQUIRE(eventually([&] { return scene.redis.has(type == "permit" ? "{" + key + "}:timeout" : key); },
                       kDeadline));
    Rlock waiter = scene.start(second);
    REQUIRE(eventually([&] { return contains(waiter.err(), "waiting for"); }, kDeadline));
    CHECK(contains(waiter.err(), "sleep"));  // it reads the holder's facts
    holder.signal(SIGTERM);
    CHECK(waiter.exit_code(kDeadline) == 0);
    CHECK_FALSE(contains(waiter.err(), "does not let us"));
    CHECK(scene.refused_nothing());
  }
}

TEST_CASE("the user of the manual uses every verb on its own names") {
  RestrictedServer scene;
  for (const std::string& type : kLockTypes) {
    const std::string key = "app:l-" + type;
    CHECK(scene.status({"lock", "acquire", key, "--type", type, "--owner", "me:1", "--lease", "1m"}) == 0);
    CHECK(scene.status({"lock", "acquire", key, "--type", type, "--owner", "me:1", "--lease", "1m"}) == 0);
    CHECK(scene.status({"lock", "acquire", "-n", key, "--type", type, "--owner", "you:1", "--lease", "1m"}) ==
          (type == "read" ? 0 : 75));
    CHECK(scene.status({"lock", "renew", key, "--owner", "me:1"}) == 0);
    CHECK(scene.status({"lock", "status", key, "--owner", "me:1"}) == 0);
    CHECK(scene.status({"inspect", key}) == 0);
    CHECK(scene.status({"inspect", "--json", key}) == 0);
    CHECK(scene.status({"lock", "release", key, "--owner", "me:1"}) == 0);
    CHECK(scene.status({"lock", "acquire", "-n", key, "--type", type, "--owner", "me:1", "--lease", "1m"}) ==
          0);
    CHECK(scene.status({"unlock", "--yes", key}) == 0);
  }
  const std::string owner = acquired(scene.redis, "app:again");
  CHECK(scene.status({"lock", "acquire", "app:again", "--owner", owner, "--again", "--lease", "1m"}) == 0);
  for (const Words& words : {Words{"sem", "init", "app:s", "3"},    Words{"sem", "acquire", "app:s"},
                             Words{"sem", "release", "app:s"},      Words{"sem", "add", "app:s", "2"},
                             Words{"sem", "status", "app:s"},       Words{"inspect", "app:s"},
                             Words{"sem", "drain", "app:s"},        Words{"sem", "delete", "--yes", "app:s"},
                             Words{"permit", "init", "app:p", "3"}, Words{"permit", "add", "app:p", "2"},
                             Words{"permit", "status", "app:p"},    Words{"inspect", "app:p"},
                             Words{"latch", "set", "app:g", "2"},   Words{"inspect", "app:g"},
                             Words{"latch", "down", "app:g"},       Words{"latch", "down", "app:g"},
                             Words{"latch", "wait", "app:g"},       Words{"latch", "set", "app:g", "1"},
                             Words{"latch", "delete", "app:g"},     Words{"inspect", "app:nothing"}}) {
    CAPTURE(joined(words, " "));
    CHECK(scene.status(words) == 0);
  }
  Rlock permits = scene.start({"permit", "acquire", "app:p", "--lease", "1m", "--count", "2"});
  REQUIRE(permits.exit_code(kDeadline) == 0);
  const std::string id = line(permits.out());
  CHECK(scene.status({"permit", "renew", "app:p", id}) == 0);
  CHECK(scene.status({"permit", "release", "app:p", id}) == 0);
  CHECK(scene.status({"unlock", "--yes", "app:p"}) >= 0);
}

TEST_CASE("the manual's additional rights are exactly those of the other features") {
  RestrictedServer scene;
  scene.may({"+wait", "+select", "+scan", "+info", "+client|list", "+script|load"});
  scene.redis.cli({"CONFIG", "SET", "appendonly", "yes"});
  CHECK(scene.status({"run", "--db", "3", "-k", "app:k", "--", "true"}) == 0);
  CHECK(scene.status({"run", "-w", "1s", "--sync-replicas", "0", "-k", "app:k", "--", "true"}) == 0);
  CHECK(scene.status({"inspect", "-v", "--prefix", "app:"}) == 0);
  CHECK(scene.status({"doctor", "--prefix", "app:"}) == 0);
  CHECK(scene.status({"scripts", "load"}) == 0);
}

TEST_CASE("names with braces need exactly the additional rights that the manual names") {
  RestrictedServer scene;
  scene.may({"~redisson_*:app:*", "~rlock:meta:app:*", "~rlock:history:app:*"});
  if (RedisServer::version() >= 60200) scene.may({"&redisson_*:app:*"});
  for (const std::string& type : kLockTypes)
    CHECK(scene.status({"run", "--type", type, "-k", "app:{a}:" + type, "--", "true"}) == 0);
  CHECK(scene.status({"run", "--permits", "2", "-k", "app:{a}", "--", "true"}) == 0);
}

TEST_CASE("without rights for other clients' keys a user inspects its own, and learns that there are more") {
  RestrictedServer scene;
  scene.may({"+scan"});
  const std::string owner = acquired(scene.redis, "app:k");
  Rlock inspect = scene.start({"inspect"});
  CHECK(inspect.exit_code(kDeadline) == 0);
  CHECK(inspect.out().starts_with("app:k "));
  CHECK(inspect.err() ==
        "rlock: 1 more, which this user may not read; see ACCESS RIGHTS in rlock-redisson(7)\n");
}

TEST_CASE("doctor reports that its user may not read the settings") {
  RestrictedServer scene;
  Rlock doctor = scene.start({"doctor", "--prefix", "app:"});
  CHECK(doctor.exit_code(kDeadline) == 0);
  CHECK(contains(doctor.out(), "?    settings     not looked at: this user may not ask for INFO"));
  CHECK(contains(doctor.out(), "ok   scripting    scripts run"));
}

TEST_CASE("doctor finds each primary of a Cluster fit for scripts of the manual's user") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(cluster.node(i).cli(recipe()) == "OK");
    REQUIRE(cluster.node(i).cli({"ACL", "SETUSER", "locks", "+cluster|slots", "+asking"}) == "OK");
  }
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = cluster.url();
  options.env["RLOCK_PASSWORD"] = "secret";
  const auto doctor_says = [&](const std::string& prefix) {
    Rlock doctor{{"doctor", "--user", "locks", "--prefix", prefix}, options};
    CHECK(doctor.exit_code(kDeadline) == 0);
    return split(doctor.out(), '\n');
  };
  CHECK(std::ranges::count(doctor_says("app:"), "  ok   scripting    scripts run") == 3);
  const Words in_braces = doctor_says("app:{x}:");
  CHECK(std::ranges::count(in_braces, "  ok   scripting    scripts run") == 1);
  CHECK(std::ranges::count(in_braces,
                           "  ?    scripting    not looked at: no key with this prefix lies here") == 2);
}

TEST_CASE("the user of the manual can do nothing else, neither to the server nor to others' names") {
  RestrictedServer scene;
  const std::string before = scene.redis.keys();
  RespClient user{scene.redis.where()};
  REQUIRE(user.ask({"AUTH", "locks", "secret"}) == "OK");
  for (const Words& words :
       {Words{"FLUSHALL"},
        Words{"FLUSHDB"},
        Words{"SWAPDB", "0", "1"},
        Words{"KEYS", "*"},
        Words{"SCAN", "0"},
        Words{"RANDOMKEY"},
        Words{"DBSIZE"},
        Words{"SELECT", "1"},
        Words{"SCRIPT", "FLUSH"},
        Words{"SCRIPT", "KILL"},
        Words{"SCRIPT", "LOAD", "return 1"},
        Words{"SCRIPT", "EXISTS", "x"},
        Words{"FUNCTION", "FLUSH"},
        Words{"FUNCTION", "LIST"},
        Words{"FUNCTION", "KILL"},
        Words{"FCALL", "f", "0"},
        Words{"CONFIG", "GET", "*"},
        Words{"CONFIG", "SET", "maxmemory", "1"},
        Words{"CONFIG", "REWRITE"},
        Words{"ACL", "LIST"},
        Words{"ACL", "SETUSER", "me", "on"},
        Words{"ACL", "WHOAMI"},
        Words{"CLIENT", "LIST"},
        Words{"CLIENT", "KILL", "TYPE", "normal"},
        Words{"CLIENT", "PAUSE", "1000"},
        Words{"CLIENT", "TRACKING", "ON"},
        Words{"MONITOR"},
        Words{"DEBUG", "SLEEP", "0"},
        Words{"SHUTDOWN"},
        Words{"SAVE"},
        Words{"BGSAVE"},
        Words{"BGREWRITEAOF"},
        Words{"REPLICAOF", "NO", "ONE"},
        Words{"REPLCONF", "x", "y"},
        Words{"SYNC"},
        Words{"PSYNC", "?", "-1"},
        Words{"MIGRATE", "h", "1", "app:k", "0", "1"},
        Words{"INFO"},
        Words{"SLOWLOG", "GET"},
        Words{"LATENCY", "RESET"},
        Words{"MEMORY", "USAGE", "app:k"},
        Words{"MODULE", "LIST"},
        Words{"CLUSTER", "INFO"},
        Words{"ROLE"},
        Words{"WAIT", "0", "1"},
        Words{"LASTSAVE"},
        Words{"PSUBSCRIBE", "*"},
        Words{"PUBSUB", "CHANNELS"},
        Words{"SUBSCRIBE", "redisson_lock__channel:{other}"},
        Words{"PUBLISH", "redisson_lock__channel:{other}", "0"},
        Words{"SORT", "app:k"},
        Words{"DUMP", "app:k"},
        Words{"RESTORE", "app:k", "0", "x"},
        Words{"RENAME", "app:k", "app:l"},
        Words{"COPY", "app:k", "app:l"},
        Words{"OBJECT", "ENCODING", "app:k"},
        Words{"MOVE", "app:k", "1"},
        Words{"SETRANGE", "app:k", "1", "x"},
        Words{"BLPOP", "app:k", "0"},
        Words{"EVAL_RO", "return 1", "0"},
        Words{"MULTI"},
        Words{"XADD", "app:k", "*", "a", "b"},
        Words{"PERSIST", "app:k"},
        Words{"GET", "other"},
        Words{"HGETALL", "other"},
        Words{"DEL", "other"},
        Words{"TYPE", "other"},
        Words{"EXISTS", "other"},
        Words{"PTTL", "other"},
        Words{"SET", "other", "x"},
        Words{"LRANGE", "redisson_lock_queue:{other}", "0", "-1"},
        Words{"HGETALL", "rlock:meta:{other}"},
        Words{"HSET", "rlock:meta:{other}", "a", "b"},
        Words{"DEL", "{other}:timeout"},
        Words{"EVAL", "return redis.call('hgetall', KEYS[1])", "1", "other"},
        Words{"EVAL", "return redis.call('hgetall', 'other')", "0"},
        Words{"EVAL", "return redis.call('del', 'other')", "1", "app:k"},
        Words{"EVAL", "return redis.call('flushall')", "0"},
        Words{"EVAL", "return redis.call('script', 'flush')", "0"},
        Words{"EVAL", "return redis.call('config', 'get', '*')", "0"},
        Words{"EVAL", "return redis.call('scan', 0)", "0"},
        Words{"EVAL", "return redis.call('keys', '*')", "0"},
        Words{"EVAL", "return redis.call('publish', 'redisson_lock__channel:{other}', 0)", "0"}}) {
    const std::string answer = user.ask(words);
    const auto says = [&](const char* text) { return contains(answer, text); };
    const bool denied = says("NOPERM") || says("permissions") ||
                        says("The user executing the script can't") || says("not allowed from script") ||
                        says("nknown command") || says("nknown Redis command");
    CHECK_MESSAGE((answer.starts_with("(error)") && denied), joined(words, " ") << ": " << answer);
  }
  for (const Words& words :
       {Words{"run", "-n", "-k", "other2", "--", "true"}, Words{"inspect", "other"}, Words{"inspect"},
        Words{"unlock", "--yes", "other"}, Words{"run", "--db", "1", "-k", "app:k", "--", "true"},
        Words{"scripts", "load"}}) {
    CAPTURE(joined(words, " "));
    Rlock rlock = scene.start(words);
    CHECK(rlock.exit_code(kDeadline) == 77);
    CHECK_MESSAGE(contains(rlock.err(), "ACCESS RIGHTS in rlock-redisson(7)"), rlock.err());
    CHECK(split(rlock.err(), '\n').size() == 2);
  }
  CHECK(scene.redis.keys() == before);
}
