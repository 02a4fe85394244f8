// Servers in different states, with verbs that wait or read, and each way to wait: the exit status, the time and
// the message. rlock-safety(7), SERVERS THAT FAIL, lists the same.

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <sstream>

#include "faults/fault_line.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"
#include "support/unloaded_watch.h"

using namespace rlock::test;

namespace {

using Time = std::chrono::milliseconds;

/// T in the manual: --connect-timeout plus --command-timeout.
constexpr Time kTry = 4000ms;
constexpr Time kFailover = 30000ms;
constexpr Time kOutage = 60000ms;

/// The time for which --if-unreachable run asks whether the key exists.
constexpr Time kAsks = 1000ms;

/// How much later than promised a process may end. The measured time counts only while a processor is free.
/// In the short profile many processes start at once beside other tests, and their servers in this process
/// delay them, too.
Time spare() { return long_profile() ? 200ms : 2200ms; }

struct State {
  std::string name;
  std::string url;
  std::string word;     ///< the last printed line contains this word
  Time without = kTry;  ///< the latest end of a wait without -w; at_least is the earliest
  Time at_least = kTry - 200ms;
  Time patience = 2000ms;           ///< the limit of a wait with -w
  int status = 69;                  ///< the exit status of a verb that needs the server
  bool reads = false;               ///< the server answers calls that only read
  bool is_replica = false;          ///< a replica is enough for verbs that do not wait
  bool several = false;             ///< there are several servers, and a majority has to answer
  bool busy = false;                ///< the server said that the keys are busy, before it came into this
                                    ///< state
  std::shared_ptr<void> servers{};  ///< keeps the servers alive
};

enum class Choice { none, skip, run };

struct Verb {
  std::string name;
  Words before;  ///< the words before the option for the wait
  Words after;
  bool waits = true;
  std::optional<int> where_it_reads{};  ///< a verb that only reads: its exit status when the server answers
                                        ///< reads
  bool one_server = false;              ///< it takes only one server
  Choice choice = Choice::none;
};

/// The command prints that it ran, and ends with an exit status that rlock itself does not use.
constexpr int kRan = 3;
const std::string kCommand = "echo ran; exit 3";

/// Stands for a key that only this cell uses.
const std::string kKey = "KEY";

std::vector<Verb> verbs() {
  std::vector<Verb> all{
      {"run", {"run", "-k", kKey}, {"-c", kCommand}},
      {"flock", {"flock"}, {kKey, "-c", kCommand}},
      {"lock acquire", {"lock", "acquire", "--lease", "1m", kKey}, {}},
      {"lock wait", {"lock", "wait", kKey}, {}, true, 0},
      {"sem acquire", {"sem", "acquire", "{t}sem"}, {}, true, {}, true},
      {"permit acquire", {"permit", "acquire", "--lease", "1m", "{t}permit"}, {}, true, {}, true},
      {"latch wait", {"latch", "wait", kKey}, {}, true, 1, true},  // it was never set
      {"inspect", {"inspect", kKey}, {}, false, 0},
      {"list", {"list", kKey}, {}, false, 1},  // the key does not exist
  };
  for (const auto& [word, choice] : {std::pair{"skip", Choice::skip}, {"run", Choice::run}}) {
    const std::string name = std::string{" --if-unreachable "} + word;
    all.push_back({"run" + name, {"run", "-k", kKey, "--if-unreachable", word}, {"-c", kCommand}});
    all.back().choice = choice;
    all.push_back({"flock" + name, {"flock", "--if-unreachable", word}, {kKey, "-c", kCommand}});
    all.back().choice = choice;
  }
  return all;
}

enum class Wait { none, not_at_all, some_time };

std::string name_of(Wait wait) {
  switch (wait) {
    case Wait::none: return "";
    case Wait::not_at_all: return " -n";
    default: return " -w";
  }
}

/// One rlock process with one verb in one state.
struct Cell {
  Cell(const State& its_state, const Verb& its_verb, Wait its_wait)
      : state(its_state), verb(its_verb), wait(its_wait) {
    Words words = verb.before;
    if (wait == Wait::not_at_all) words.push_back("-n");
    if (wait == Wait::some_time)
      words.insert(words.end(), {"-w", std::to_string(state.patience.count()) + "ms"});
    words.insert(words.end(), verb.after.begin(), verb.after.end());
    std::string key = "{t}" + (state.busy ? verb.name.substr(0, verb.name.find(" --")) : name());
    std::ranges::replace(key, ' ', '-');
    std::ranges::replace(words, kKey, key);
    auto options = Rlock::clean_environment();
    options.env["RLOCK_URL"] = state.url;
    rlock.emplace(words, options);
    watch.emplace(std::vector{rlock->pid()});
  }

  bool ended() {
    if (time) return true;
    const Time elapsed = watch->elapsed();  // before running() waits for the process
    if (rlock->running()) return false;
    time = elapsed;
    whole_time = since.elapsed();
    return time.has_value();
  }

  std::string name() const { return state.name + ", " + verb.name + name_of(wait); }

  int expected() const {
    if (verb.one_server && state.several) return 64;
    if (verb.where_it_reads && state.reads && !(verb.waits && state.is_replica)) return *verb.where_it_reads;
    if (state.status == 69 && verb.choice == Choice::skip) return 0;
    if (state.status == 69 && verb.choice == Choice::run && !state.busy) return kRan;
    return state.status;
  }

  /// True: the verb cannot use the server, and reports that.
  bool fails() const { return expected() == 69 || verb.choice != Choice::none; }

  /// The earliest and the latest end.
  std::pair<Time, Time> bounds() const {
    const bool waited = verb.waits && wait != Wait::not_at_all && fails() && state.status == 69;
    const Time asks = verb.choice == Choice::run && state.name == "silent" ? kAsks : 0ms;
    if (!waited) return {0ms, kTry + asks};
    if (wait == Wait::some_time) return {state.patience, state.patience + asks};
    return {state.at_least, state.without + asks};
  }

  void check() {
    CAPTURE(name());
    CAPTURE(rlock->err());
    REQUIRE(time);
    const int status = rlock->exit_code();
    const std::string err = rlock->err();
    report(name(), err.substr(0, err.find('\n')), status, *time);
    CHECK(status == expected());
    if (verb.choice != Choice::none || verb.name == "run" || verb.name == "flock")
      CHECK(rlock->out() == (status == kRan ? "ran\n" : ""));
    CHECK(whole_time >= bounds().first);
    CHECK(*time <= promised(bounds().second + spare()));
    if (!fails()) return;
    std::istringstream lines{err};
    std::string line;
    bool said = true;
    while (std::getline(lines, line)) {
      said = contains(line, state.word);
      if (!state.busy) CHECK_MESSAGE(said, line);
    }
    CHECK(said);  // the last line names the state
    if (state.busy && !err.empty()) CHECK(contains(err, " ago '"));
    CHECK(err.empty() == (status == 0 && verb.name.starts_with("flock")));
  }

  const State& state;
  const Verb& verb;
  const Wait wait;
  std::optional<Rlock> rlock{};
  StopWatch since{};
  std::optional<UnloadedWatch> watch{};
  std::optional<Time> time{};  ///< the time during which a processor was free for the process
  Time whole_time{};
};

// --- the states ----------------------------------------------------------------------------------

/// A server that answers every command for a lock with this error, as a real server in that state does.
State saying(const std::string& name, const std::string& error, const std::string& word) {
  auto fake = std::make_shared<FakeRedis>();
  fake->decide([=](const Words& words) -> std::optional<std::string> {
    for (const char* spared :
         {"HELLO", "CLIENT", "AUTH", "SELECT", "INFO", "SUBSCRIBE", "UNSUBSCRIBE", "PING"})
      if (words.front() == spared) return std::nullopt;
    return wire::error(error);
  });
  return {.name = name, .url = fake->url(), .word = word, .servers = fake};
}

/// A real server with the objects that the verbs use. `configure` then brings it into its state.
State really(const std::string& name, const std::string& word, const RedisServer::Options& options,
             const std::function<void(RedisServer&)>& configure) {
  auto redis = std::make_shared<RedisServer>(options);
  for (const Words& words : {Words{"sem", "init", "{t}sem", "1"}, Words{"permit", "init", "{t}permit", "1"}})
    REQUIRE(Rlock{words, redis->environment()}.exit_code() == 0);
  configure(*redis);
  return {.name = name, .url = redis->url(), .word = word, .reads = true, .servers = redis};
}

State refused() {
  return {.name = "refused",
          .url = "redis://127.0.0.1:" + std::to_string(free_port()),
          .word = "connection refused",
          .without = 300ms,
          .at_least = 0ms};
}

State silent() {
  auto fake = std::make_shared<FakeRedis>();
  fake->decide([](const Words&) { return wire::kSilence; });
  return {.name = "silent", .url = fake->url(), .word = "no answer", .at_least = 2000ms, .servers = fake};
}

State max_clients() {
  auto fake = std::make_shared<FakeRedis>(FakeRedis::Transport::tcp);
  fake->greet_with(wire::error("ERR max number of clients reached"));
  fake->decide([](const Words&) { return wire::kClose; });
  return {.name = "maxclients", .url = fake->url(), .word = "max number of clients reached", .servers = fake};
}

/// BGSAVE fails because its folder is gone.
State misconf() {
  return really("MISCONF", "MISCONF", {.config = {"save 3600 1"}}, [](RedisServer& redis) {
    const std::string gone = redis.directory() + "/gone";
    output_of({"mkdir", gone});
    redis.cli({"CONFIG", "SET", "dir", gone});
    output_of({"rmdir", gone});
    redis.cli({"BGSAVE"});
    REQUIRE(eventually([&] { return contains(redis.cli({"SET", "x", "1"}), "MISCONF"); }));
  });
}

State replica() {
  auto primary = std::make_shared<RedisServer>(
      RedisServer::Options{.tcp = true, .config = {"repl-diskless-sync-delay 0"}});
  State state = really("replica", "replica", {}, [&](RedisServer& redis) {
    redis.cli({"REPLICAOF", "127.0.0.1", std::to_string(primary->port())});
    REQUIRE(
        eventually([&] { return contains(redis.cli({"INFO", "replication"}), "master_link_status:up"); }));
  });
  state.without = 300ms;
  state.at_least = 0ms;
  state.is_replica = true;
  state.servers =
      std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(state.servers, primary);
  return state;
}

State dead_shard() {
  auto cluster = std::make_shared<ClusterServers>();
  const std::size_t dead = ClusterServers::third_of("{t}");
  for (std::size_t i = 0; i < 3; ++i)
    cluster->node(i).cli({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
  const std::string port = std::to_string(cluster->node(dead).port());
  cluster->node(dead).kill();
  return {.name = "dead shard",
          .url = cluster->url(dead == 0 ? 1 : 0),
          .word = ":" + port,
          .without = kFailover,
          .at_least = kFailover - 1000ms,
          .servers = cluster};
}

struct Watched {
  RedisServer primary{{.tcp = true, .config = {}}};
  SentinelServer sentinel{"mymaster", primary};
};

State sentinel_without_primary() {
  auto servers = std::make_shared<Watched>();
  const std::string port = std::to_string(servers->primary.port());
  servers->primary.kill();
  return {.name = "Sentinel without primary",
          .url = "redis+sentinel://127.0.0.1:" + std::to_string(servers->sentinel.port()) + "/mymaster",
          .word = ":" + port,
          .without = kFailover,
          .at_least = kFailover - 1000ms,
          .servers = servers};
}

State quorum_lost() {
  auto redis = std::make_shared<RedisServer>();
  return {.name = "quorum lost",
          .url = redis->url() + " unix:///nonexistent/1 unix:///nonexistent/2",
          .word = "/nonexistent/1: no such file",
          .without = 300ms,
          .at_least = 0ms,
          .several = true,
          .servers = redis};
}

std::vector<State> states() {
  std::vector<State> all;
  all.push_back(dead_shard());  // the slowest states come first
  all.push_back(sentinel_without_primary());
  all.push_back(refused());
  all.push_back(silent());
  all.push_back(saying("LOADING", "LOADING Redis is loading the dataset in memory", "LOADING"));
  all.push_back(saying("BUSY", "BUSY Redis is busy running a script.", "BUSY"));
  all.push_back(saying("READONLY", "READONLY You can't write against a read only replica.", "READONLY"));
  all.push_back(saying("MASTERDOWN", "MASTERDOWN Link with MASTER is down.", "MASTERDOWN"));
  all.push_back(max_clients());
  all.push_back(misconf());
  // A fake server says OOM, because a real one carries out a script whose first command frees memory.
  all.push_back(saying("OOM", "OOM command not allowed when used memory > 'maxmemory'.", "OOM"));
  all.push_back(really("NOREPLICAS", "NOREPLICAS", {}, [](RedisServer& redis) {
    redis.cli({"CONFIG", "SET", "min-replicas-to-write", "1"});
  }));
  all.push_back(replica());
  all.push_back(saying("CLUSTERDOWN", "CLUSTERDOWN The cluster is down", "CLUSTERDOWN"));
  all.push_back(quorum_lost());
  all.push_back(saying("denied", "NOPERM this user has no permissions", "NOPERM"));
  all.back().status = 77;
  all.push_back(
      saying("no scripts", "ERR unknown command 'EVALSHA', with args beginning with:", "unknown command"));
  all.back().status = 78;
  return all;
}

/// This many processes run at once, because each works only for a moment and then waits.
constexpr std::size_t kAtOnce = 80;

void wait_until(std::list<Cell>& cells, std::size_t running) {
  const auto few = [&] {
    return static_cast<std::size_t>(std::ranges::count_if(cells, [](Cell& cell) { return !cell.ended(); })) <=
           running;
  };
  REQUIRE(eventually(few, kOutage + 30s));
}

/// Starts every verb and every way to wait in this state, at most kAtOnce at a time.
void start(std::list<Cell>& cells, const State& state, const std::vector<Verb>& verbs,
           const std::vector<Wait>& waits) {
  for (const Verb& verb : verbs) {
    for (const Wait wait : waits)
      if (verb.waits || wait == Wait::none) cells.emplace_back(state, verb, wait);
  }
  wait_until(cells, kAtOnce);
}

}  // namespace

TEST_CASE("rlock-safety(7) names the times that the other tests of this file assert") {
  const std::string manual = read_file(std::string{RLOCK_SOURCE_FOLDER} + "/man/rlock-safety.7");
  const auto seconds = [](Time time) { return std::to_string(time / 1s) + " s"; };
  for (const std::string& row :
       {std::string{"\\-n\tevery failure\tafter one try"}, std::string{"\\-w D\tevery failure\tafter D"},
        std::string{"no option\tno server answers, or it is a replica\tafter one try"},
        std::string{"no option\ttoo few of several servers answer\tafter one try"},
        "no option\tone server answers, but fails\tafter T (" + seconds(kTry) + ")",
        "no option\tCluster, Sentinel: no primary works\tafter " + seconds(kFailover),
        "no option\tthe server fails during a wait\t" + seconds(kOutage) + " later"})
    CHECK_MESSAGE(contains(manual, '\n' + row + '\n'), row);
}

TEST_CASE(
    "in each state of a server, each verb ends with the exit code and in the time that the manual names") {
  const auto all_states = states();
  const auto all_verbs = verbs();
  std::list<Cell> cells;
  for (const State& state : all_states)
    start(cells, state, all_verbs, {Wait::none, Wait::not_at_all, Wait::some_time});
  wait_until(cells, 0);
  for (Cell& cell : cells) cell.check();
}

TEST_CASE(
    "if the server dies during a wait, each verb exits with 69, at the end of the wait or of the outage") {
  RedisServer redis;
  for (const Words& words : std::vector<Words>{{"lock", "acquire", "--lease", "10m", "{t}run"},
                                               {"lock", "acquire", "-x", "--lease", "10m", "{t}flock"},
                                               {"lock", "acquire", "--lease", "10m", "{t}lock-acquire"},
                                               {"lock", "acquire", "--lease", "10m", "{t}lock-wait"},
                                               {"sem", "init", "{t}sem", "1"},
                                               {"sem", "acquire", "{t}sem"},
                                               {"permit", "init", "{t}permit", "1"},
                                               {"permit", "acquire", "--lease", "10m", "{t}permit"},
                                               {"latch", "set", "{t}latch-wait", "1"}})
    REQUIRE(Rlock{words, redis.environment()}.exit_code() == 0);
  const State dies{.name = "dies",
                   .url = redis.url(),
                   .word = "connection refused",
                   .without = kOutage + 3000ms,
                   .at_least = kOutage,
                   .patience = 8000ms,
                   .busy = true};
  auto waiting = verbs();
  std::erase_if(waiting, [](const Verb& verb) { return !verb.waits; });
  std::list<Cell> cells;
  start(cells, dies, waiting, {Wait::some_time});
  if (long_profile()) start(cells, dies, waiting, {Wait::none});
  const auto all_wait = [&] {
    std::istringstream clients{redis.cli({"CLIENT", "LIST"})};
    std::size_t listen = 0;
    for (std::string client; std::getline(clients, client);)
      if (!contains(client, " sub=0 ")) ++listen;
    return listen == cells.size();
  };
  REQUIRE(eventually(all_wait, 6s));
  redis.kill();
  wait_until(cells, 0);
  for (Cell& cell : cells) cell.check();
}
