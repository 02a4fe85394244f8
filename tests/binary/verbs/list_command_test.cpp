// rlock list: one line per key, for every kind, on every deployment.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/descriptor.h"
#include "base/text.h"
#include "support/cli.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/masters.h"
#include "support/result.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"
#include "support/tcp_proxy.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const std::string kForeignOwner = "8d1f2c3a-1111-4222-8333-444455556666:57";

Process::Options at(const std::string& url) {
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = url;
  return options;
}

void acquire_at(const Process::Options& options, Words words) {
  words.insert(words.begin(), {"lock", "acquire", "--lease", "10m"});
  const Result acquired = result_of(words, options);
  REQUIRE_MESSAGE(acquired.status == 0, acquired.err);
}

/// Key, type and state of each line.
Words rows_of(const std::string& table) {
  Words rows = split(table, '\n');
  REQUIRE(rows.size() > 1);
  CHECK(rows.front().starts_with("KEY "));
  rows.erase(rows.begin());
  rows.pop_back();
  const std::regex row{R"(^(\S+) +(\S+) +(\S+) .*)"};
  for (std::string& line : rows) line = std::regex_replace(line, row, "$1 $2 $3");
  return rows;
}

TEST_CASE("list finds a key whose name is in braces, and not the name without them") {
  RedisServer redis;
  const auto options = redis.environment();
  acquire_at(options, {"{only}"});
  acquire_at(options, {"{both}"});
  acquire_at(options, {"both"});
  acquire_at(options, {"plain"});
  CHECK(rows_of(result_of({"list"}, options).out) ==
        Words{"both lock held", "plain lock held", "{both} lock held", "{only} lock held"});
  const std::string metrics = result_of({"metrics"}, options).out;
  CHECK(contains(metrics, R"(rlock_held{key="{only}",type="lock"} 1)"));
  CHECK_FALSE(contains(metrics, R"({key="only")"));
}

/// Creates keys as Redisson leaves them, a `dead` one without TTL, and keys of other programs.
void furnish(RedisServer& redis) {
  for (const Words& command :
       std::vector<Words>{{"HSET", "j:lock", kForeignOwner, "2"},
                          {"PEXPIRE", "j:lock", "60000"},
                          {"HSET", "j:dead", kForeignOwner, "1"},
                          {"HSET", "j:read", "mode", "read", kForeignOwner, "1"},
                          {"SET", "{j:read}:" + kForeignOwner + ":rwlock_timeout:1", "1"},
                          {"HSET", "j:write", "mode", "write", kForeignOwner + ":write", "1"},
                          {"HSET", "j:fair", kForeignOwner, "1"},
                          {"PEXPIRE", "j:fair", "60000"},
                          {"RPUSH", "redisson_lock_queue:{j:fair}", kForeignOwner},
                          {"HSET", "j:fenced", kForeignOwner, "1"},
                          {"PEXPIRE", "j:fenced", "60000"},
                          {"SET", "redisson_lock_token:{j:fenced}", "7"},
                          {"SET", "redisson_lock_token:{j:was_fenced}", "7"},
                          {"SET", "j:sem", "3"},
                          {"SET", "j:pool", "2"},
                          {"ZADD", "{j:pool}:timeout", "9999999999999", "0123456789abcdef"},
                          {"HSET", "j:group", "a", kForeignOwner, "a:" + kForeignOwner + ":expire_time",
                           "9999999999999", "a:" + kForeignOwner + ":lock_count", "1"},
                          {"HSET", "visits", "count", "3"},
                          {"HSET", "profile", "name", "x", "age", "3"},
                          {"HSET", "counts", "a", "1", "b", "2", "c", "3"},
                          {"SET", "page", "text"},
                          {"SET", "long", "12345678901234567890"},
                          {"SET", "padded", "007"},
                          {"RPUSH", "list", "x"},
                          {"SADD", "set", "x"}})
    redis.cli(command);
}

/// Makes so many keys that no pipe and no terminal takes their list at once.
void fill(RedisServer& redis) {
  redis.cli({"EVAL",
             "for i = 1, 1500 do local k = string.format('%060d', i) "
             "redis.call('hset', k, ARGV[1], 1) redis.call('pexpire', k, 600000) end",
             "0", kForeignOwner});
}

}  // namespace

TEST_CASE("list shows rlock's keys, one per line, in the order of keys") {
  RedisServer redis;
  furnish(redis);
  acquire_at(redis.environment(), {"deploy"});
  acquire_at(redis.environment(), {"app", "--type", "read"});
  const Result list = result_of({"list"}, redis.environment());
  CHECK(list.status == 0);
  CHECK(list.err.empty());
  CHECK(rows_of(list.out) == Words{"app read-write held", "deploy lock held"});
}

TEST_CASE("list --all recognizes all Redisson keys by their content") {
  RedisServer redis;
  furnish(redis);
  acquire_at(redis.environment(), {"deploy"});
  const Result list = result_of({"list", "--all"}, redis.environment());
  CHECK(list.status == 0);
  CHECK(list.err.empty());
  CHECK(rows_of(list.out) == Words{"deploy lock held", "j:dead lock stale", "j:fair fair held",
                                   "j:fenced fenced held", "j:group group held", "j:lock lock held",
                                   "j:pool permit held", "j:read read-write stale", "j:sem semaphore open",
                                   "j:was_fenced fenced free", "j:write read-write stale"});
}

TEST_CASE("list --limit shows the first keys in natural order, or in that of --sort, and is no error") {
  RedisServer redis;
  for (const char* key : {"job-10", "job-2", "job-1", "job-30"}) acquire_at(redis.environment(), {key});
  const Result two = result_of({"list", "--limit", "2", "-q"}, redis.environment());
  CHECK(two.status == 0);
  CHECK(two.err.empty());
  CHECK(two.out == "job-1\njob-2\n");
  CHECK(result_of({"list", "--limit", "3", "-q"}, redis.environment()).out == "job-1\njob-2\njob-10\n");
  CHECK(result_of({"list", "--limit", "1", "--sort", "age", "-q"}, redis.environment()).out == "job-10\n");
  const Result cut = result_of({"list", "--limit", "2", "--json"}, redis.environment());
  CHECK(contains(cut.out, "\"complete\":false"));
  const Result whole = result_of({"list", "--limit", "4", "--json"}, redis.environment());
  CHECK(contains(whole.out, "\"complete\":true"));
  CHECK(result_of({"list", "--limit", "0"}, redis.environment()).status == 64);
}

TEST_CASE("one wide key does not widen the lines of the others") {
  RedisServer redis;
  for (const std::string& key : {std::string{"a"}, std::string{"b"}, std::string(150, 'w')})
    acquire_at(redis.environment(), {key});
  const std::vector<std::string> lines = split(result_of({"list"}, redis.environment()).out, '\n');
  REQUIRE(lines.size() == 5);
  CHECK(lines[1].find("lock") < 50);
  CHECK(lines[3].find("lock") > 150);
}

TEST_CASE("list says how many permits of a semaphore and of a pool are free") {
  RedisServer redis;
  for (const Words& words :
       {Words{"sem", "init", "s", "5"}, Words{"sem", "acquire", "s", "--count", "2"},
        Words{"permit", "init", "p", "4"}, Words{"permit", "acquire", "p", "--lease", "1m"}})
    REQUIRE(result_of(words, redis.environment()).status == 0);
  const std::string list = result_of({"list", "--all"}, redis.environment()).out;
  CHECK_MESSAGE(contains(list, "FREE"), list);
  CHECK_MESSAGE(contains(list, " 3/4 "), list);
  CHECK_MESSAGE(contains(list, " 3 "), list);
}

TEST_CASE("list finds each of a thousand locks among many other keys") {
  RedisServer redis;
  RespClient client{redis.where()};
  for (int i = 0; i < 20'000; ++i) client.send({"SET", "noise:" + std::to_string(i), "value"});
  for (int i = 0; i < 1000; ++i) client.send({"HSET", "lock:" + std::to_string(i), kForeignOwner, "1"});
  for (int i = 0; i < 21'000; ++i) static_cast<void>(client.receive());
  const Result list = result_of({"list", "--all", "-q"}, redis.environment());
  CHECK(list.status == 0);
  CHECK(std::ranges::count(list.out, '\n') == 1000);
}

TEST_CASE("list shows all of more keys than it keeps in memory, page by page, and each once") {
  // This takes two seconds of processor time, and dozens of other tests may run.
  constexpr std::chrono::minutes kLong{2};
  RedisServer redis;
  redis.cli(
      {"EVAL",
       "for i = 1, 9000 do local key = 'key-' .. i redis.call('hset', key, ARGV[1], 1) redis.call('pexpire', key, "
       "3600000) redis.call('hset', 'rlock:meta:{' .. key .. '}', ARGV[1], ARGV[2]) end",
       "0", kForeignOwner,
       R"({"since":1,"renewed":1,"lease_ms":3600000,"ended_at":null,"host":"h","pid":1,"user":"u","command":")" +
           std::string(400, 'c') + R"(","reason":null,"labels":{},"url":null,"renews":false,"exit":null})"});
  const Result quiet = result_of({"list", "-q", "--scan-time", "5m"}, redis.environment(), kLong);
  CHECK(quiet.status == 0);
  CHECK(quiet.err.empty());
  Words keys = split(quiet.out, '\n');
  keys.pop_back();
  CHECK(keys.size() == 9000);
  CHECK(keys.front() == "key-1");
  CHECK(keys[1] == "key-2");
  CHECK(keys.back() == "key-9000");
  const Result table = result_of({"list", "--scan-time", "5m"}, redis.environment(), kLong);
  CHECK(rows_of(table.out).size() == 9000);
  const Result json = result_of({"list", "--json", "--scan-time", "5m"}, redis.environment(), kLong);
  const auto document = nlohmann::json::parse(json.out);
  CHECK(document["complete"] == true);
  CHECK(document["keys"].size() == 9000);
  const Result sorted =
      result_of({"list", "-q", "--sort", "age", "--scan-time", "5m"}, redis.environment(), kLong);
  CHECK(split(sorted.out, '\n').size() == 9001);
  CHECK(sorted.err.empty());
}

TEST_CASE("a PATTERN is for keys as one types them, and options choose lines") {
  RedisServer redis;
  acquire_at(redis.environment(), {"app:deploy"});
  acquire_at(redis.environment(), {"app:report", "--type", "read"});
  acquire_at(redis.environment(), {"deploy"});
  const auto keys = [&](Words words) {
    words.insert(words.begin(), {"list", "-q"});
    return result_of(words, redis.environment()).out;
  };
  CHECK(keys({"app:*"}) == "app:deploy\napp:report\n");
  CHECK(keys({"deploy"}) == "deploy\n");
  CHECK(keys({"app:r*", "deploy"}) == "app:report\ndeploy\n");
  CHECK(keys({"--prefix", "app:"}) == "deploy\nreport\n");
  CHECK(keys({"--prefix", "app:", "d*"}) == "deploy\n");
  CHECK(keys({"--all", "--prefix", "app:", "d*"}) == "deploy\n");
  CHECK(keys({"--type", "read-write"}) == "app:report\n");
  CHECK(keys({"--type", "read-write", "--type", "lock"}) == "app:deploy\napp:report\ndeploy\n");
  CHECK(keys({"--state", "free"}).empty());
  CHECK(keys({"--older", "1h"}).empty());
  CHECK(keys({"--host", "nowhere"}).empty());
  CHECK(keys({"--sort", "age"}) == "app:deploy\napp:report\ndeploy\n");
  CHECK(result_of({"list", "--state", "dead"}, redis.environment()).status == 64);
}

TEST_CASE("a fair lock of rlock is shown as fair even without a queue") {
  RedisServer redis;
  acquire_at(redis.environment(), {"fair-by-hand", "--fair"});
  acquire_at(redis.environment(), {"plainly"});
  Rlock run = redis.rlock("run", "--fair", "-k", "fair-run", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.cli({"HLEN", "rlock:meta:{fair-run}"}) == "1"; }, kDeadline));
  const Result fair = result_of({"list", "--type", "fair"}, redis.environment());
  CHECK(rows_of(fair.out) == Words{"fair-by-hand fair held", "fair-run fair held"});
  const Result inspected = result_of({"inspect", "fair-run"}, redis.environment());
  CHECK(inspected.out.starts_with("fair-run      fair, held\n"));
  const Result owner = result_of({"list", "--json", "fair-by-hand"}, redis.environment());
  const auto holder = nlohmann::json::parse(owner.out)["keys"][0]["holders"][0]["owner"].get<std::string>();
  CHECK(result_of({"lock", "renew", "fair-by-hand", "--owner", holder}, redis.environment()).status == 0);
  CHECK(result_of({"lock", "release", "fair-by-hand", "--owner", holder}, redis.environment()).status == 0);
  CHECK_FALSE(redis.has("fair-by-hand"));
  CHECK(result_of({"unlock", "-y", "fair-run"}, redis.environment()).status == 0);
  CHECK(run.exit_code(kDeadline) == 125);
}

TEST_CASE("a permit that Redisson has taken without a lease never ends, and is not stale") {
  RedisServer redis;
  redis.cli({"SET", "pool", "2"});
  redis.cli({"ZADD", "{pool}:timeout", "922337203685477", "0123456789abcdef"});
  const Result text = result_of({"inspect", "pool"}, redis.environment());
  CHECK_MESSAGE(contains(text.out, "no lease: it never ends"), text.out);
  const Result json = result_of({"inspect", "--json", "pool"}, redis.environment());
  const auto seen = nlohmann::json::parse(json.out)["keys"][0];
  CHECK(seen["holders"][0]["ttl_ms"] == -1);
  CHECK(seen["stale"] == false);
  CHECK(rows_of(result_of({"list", "--all"}, redis.environment()).out) == Words{"pool permit held"});
}

TEST_CASE("list ends with 1 if no key matches, and names the option that shows others") {
  RedisServer redis;
  redis.cli({"HSET", "theirs", kForeignOwner, "1"});
  const Result none = result_of({"list"}, redis.environment());
  CHECK(none.status == 1);
  CHECK(none.out.empty());
  CHECK(
      none.err ==
      "rlock: there are no such keys with notes of rlock; --all also finds semaphores and the keys of other clients\n");
  const Result json = result_of({"list", "--json"}, redis.environment());
  CHECK(json.status == 1);
  CHECK(json.out == "{\"v\":1,\"complete\":true,\"keys\":[]}\n");
  CHECK(result_of({"list", "--all"}, redis.environment()).status == 0);
}

TEST_CASE("list --json has the objects of inspect") {
  RedisServer redis;
  furnish(redis);
  acquire_at(redis.environment(), {"deploy"});
  const auto keys = [&](const Words& words) {
    const std::regex number{R"(:\d{4,})"};  // times
    const std::string text = result_of(words, redis.environment()).out;
    return nlohmann::json::parse(std::regex_replace(text, number, ":0"));
  };
  const auto list = keys({"list", "--all", "--json"});
  REQUIRE(list["keys"].size() == 11);
  for (const auto& item : list["keys"]) {
    const std::string key = item["key"].get<std::string>();
    CHECK(keys({"inspect", "--json", key})["keys"][0] == item);
  }
}

TEST_CASE("a search that reaches its time limit reports so, and shows its findings") {
  RedisServer redis;
  RespClient client{redis.where()};
  for (int i = 0; i < 20'000; ++i) client.send({"SET", "noise:" + std::to_string(i), "12"});
  for (int i = 0; i < 20'000; ++i) static_cast<void>(client.receive());
  const Result list = result_of({"list", "--all", "-q", "--scan-time", "1ms"}, redis.environment());
  CHECK((list.status == 0 || list.status == 1));
  CHECK(contains(list.err, "cut short after 1ms; a longer --scan-time shows more"));
}

TEST_CASE("a search whose last questions would come too late is not called complete") {
  RedisServer redis{{.tcp = true}};
  redis.cli({"SET", "sem", "3"});
  TcpProxy slow{"127.0.0.1:" + std::to_string(redis.port())};
  slow.delay(TcpProxy::Way::to_client, std::chrono::milliseconds{300});
  // The step that finds the semaphore begins in time and ends too late. On a slow machine it also begins too late.
  const Result list = result_of({"list", "--all", "--json", "--scan-time", "450ms"}, at(slow.url()));
  CHECK(contains(list.out, "\"complete\":false"));
}

TEST_CASE("a user with rights for some keys sees only these") {
  RedisServer redis;
  furnish(redis);
  for (int i = 0; i < 30; ++i) redis.cli({"HSET", "other:" + std::to_string(i), kForeignOwner, "1"});
  redis.cli({"ACL", "SETUSER", "some", "on", ">secret", "~j:lock", "~*{j:lock}*", "&*", "+@all"});
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] = "unix://some:secret@" + redis.socket();
  const Result list = result_of({"list", "--all", "-q"}, options);
  CHECK(list.status == 0);
  CHECK(list.out == "j:lock\n");
}

TEST_CASE("list looks through every primary of a cluster") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;
  for (const std::string key : {"a", "b", "c", "d", "e"}) acquire_at(at(cluster.url()), {key});
  for (int i = 0; i < 30; ++i) {
    const std::string key = "java:" + std::to_string(i);
    cluster.owner_of(key).cli({"HSET", key, kForeignOwner, "1"});
  }
  CHECK(result_of({"list", "-q"}, at(cluster.url())).out == "a\nb\nc\nd\ne\n");
  const Result all = result_of({"list", "--all", "-q"}, at(cluster.url()));
  CHECK(all.err.empty());
  CHECK(std::ranges::count(all.out, '\n') == 35);
}

TEST_CASE("list finds the primary behind Sentinel") {
  RedisServer primary{{.tcp = true}};
  const SentinelServer sentinel{"mymaster", primary};
  const auto options = at("redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/mymaster");
  acquire_at(options, {"deploy"});
  CHECK(rows_of(result_of({"list", "--all"}, options).out) == Words{"deploy lock held"});
}

TEST_CASE("with several servers list shows a key once, and names the silent servers") {
  Masters masters{3};
  acquire_at(masters.environment(), {"deploy"});
  REQUIRE(eventually([&] { return masters.holding("deploy") >= 2; }));
  CHECK(rows_of(result_of({"list", "--all"}, masters.environment()).out) == Words{"deploy lock held"});
  masters.kill(2);
  const Result list = result_of({"list", "-q"}, masters.environment());
  CHECK(list.status == 0);
  CHECK(list.out == "deploy\n");
  CHECK_FALSE(list.err.empty());
  masters.kill(1);
  CHECK(result_of({"list", "-q"}, masters.environment()).status == 69);
}

TEST_CASE("a signal ends a list whose output is a pipe that nobody reads") {
  RedisServer redis;
  fill(redis);
  const Pipe pipe;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = pipe.writing.number();
  for (const Words& words : {Words{"list", "--all"}, {"list", "--all", "--json"}, {"metrics", "--all"}}) {
    CAPTURE(words.back());
    Rlock list{words, options};
    const auto unread = [&] {
      int bytes = 0;
      return ::ioctl(pipe.reading.number(), FIONREAD, &bytes) == 0 ? bytes : -1;
    };
    REQUIRE(eventually([&] { return unread() > 32'000; }, kDeadline));
    list.signal(SIGTERM);
    CHECK(list.exit_code(kDeadline) == 128 + SIGTERM);
    std::string block(1'000'000, ' ');
    REQUIRE(::read(pipe.reading.number(), block.data(), block.size()) > 32'000);
  }
}

TEST_CASE("a signal ends a list on a terminal that nobody reads") {
  RedisServer redis;
  fill(redis);
  Pty terminal{{rlock_binary(), "list", "--all"}, redis.environment()};
  const auto written = [&] {
    const std::string io = read_file("/proc/" + std::to_string(terminal.pid()) + "/io");
    const auto at = io.find("wchar: ");
    return at == std::string::npos ? 0 : std::stoll(io.substr(at + 7));
  };
  REQUIRE(eventually([&] { return written() > 10'000 && state_of(terminal.pid()) == 'S'; }, kDeadline));
  ::kill(terminal.pid(), SIGTERM);
  CHECK(eventually([&] { return !terminal.running(); }));
  CHECK(terminal.exit_code(kDeadline) == 128 + SIGTERM);
}

TEST_CASE("on a terminal lines are cut to its width, and nothing is left of the progress") {
  RedisServer redis;
  acquire_at(redis.environment(), {std::string(90, 'k')});
  Pty terminal{{"sh", "-c", "stty cols 90 && exec \"$0\" list", rlock_binary()}, redis.environment()};
  CHECK(terminal.exit_code(kDeadline) == 0);
  for (const std::string& line : split(terminal.screen(), '\n')) CHECK(line.size() <= 91);  // its \r included
  CHECK(contains(terminal.screen(), "kkk..."));
}

TEST_CASE("on a terminal a search of more than a second shows its progress") {
  RedisServer redis;
  acquire_at(redis.environment(), {"deploy"});
  redis.freeze();
  Pty terminal{{rlock_binary(), "list", "--command-timeout", "20s"}, redis.environment()};
  const auto asked = std::chrono::steady_clock::now();
  REQUIRE(eventually([&] { return std::chrono::steady_clock::now() - asked > 1500ms; }, 5s));
  redis.thaw();
  terminal.expect("\rrlock: searched about 1,000 keys, found 1\r");
  terminal.expect("deploy");
  CHECK(terminal.exit_code(kDeadline) == 0);
}

TEST_CASE("a search goes on if the terminal that shows its progress was stopped by ^S") {
  RedisServer redis;
  acquire_at(redis.environment(), {"deploy"});
  redis.freeze();
  TempDir folder;
  Pty terminal{{"sh", "-c", "read enter; exec \"$0\" list --command-timeout 20s >\"$1\"", rlock_binary(),
                folder / "list"},
               redis.environment()};
  terminal.type("\x13\n");
  const auto asked = std::chrono::steady_clock::now();
  REQUIRE(eventually([&] { return std::chrono::steady_clock::now() - asked > 1500ms; }, 5s));
  redis.thaw();
  CHECK(terminal.exit_code(kDeadline) == 0);
  CHECK(contains(read_file(folder / "list"), "deploy"));
}
