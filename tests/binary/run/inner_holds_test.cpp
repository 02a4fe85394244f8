// A run inside a run of the same key outlives the outer run. Copies of the outer run's calls may still be on
// their way, but the inner hold stays.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// The command lines of an outer run and of the hold inside it. $K is the key.
struct Nesting {
  std::string name;
  std::string outer;  ///< options of the outer run besides its key
  std::string inner;  ///< the command that takes the hold inside, and then makes the file $END.in
};

std::string nested(const std::string& options) {
  return "\"$RLOCK_BINARY\" run --lease 6s -k \"$K\" " + options +
         " -- sh -c \": >\\\"\\$END.in\\\"; exec sleep 60\" </dev/null";
}

const std::vector<Nesting> kNestings{
    {"lock", "", nested("")},
    {"fair", "--fair", nested("--fair")},
    {"fenced", "--fenced", nested("--fenced")},
    {"read", "-s", nested("-s")},
    {"write", "-x", nested("-x")},
    {"spin", "--type spin", nested("--type spin")},
    {"two keys", "-k other", nested("")},
    {"again", "",
     "\"$RLOCK_BINARY\" lock acquire \"$K\" --again --owner \"$RLOCK_OWNER\" --lease 1h; : >\"$END.in\"; sleep 60"},
};

/// An outer run whose command takes an inner hold in the background, and goes on until the test ends it.
struct OuterRun {
  OuterRun(RedisServer& server, const Nesting& kind, std::size_t number)
      : key("k" + std::to_string(number)), end(server.directory() + "/end." + key) {
    Process::Options options = server.environment();
    options.env["RLOCK_BINARY"] = rlock_binary();
    options.env["K"] = key;
    options.env["END"] = end;
    const std::string command = "(" + kind.inner + ") & echo $!; until [ -e \"$END\" ]; do sleep 0.1; done";
    const std::string line = "exec \"$RLOCK_BINARY\" run --lease 6s --command-timeout 300ms -k \"$K\" " +
                             kind.outer + " -c '" + command + "'";
    process = std::make_unique<Process>(Words{"sh", "-c", line}, options);
  }

  std::string key, end;
  std::unique_ptr<Process> process;
};

}  // namespace

TEST_CASE(
    "the release of an outer run leaves the hold inside, also after calls that were not answered in time") {
  RedisServer server;
  const auto holds = [&](const std::string& key) {
    const std::string fields = server.cli({"HVALS", key});
    return contains(fields, "2") ? 2 : contains(fields, "1") ? 1 : 0;
  };
  std::vector<OuterRun> scenes;
  for (std::size_t i = 0; i < kNestings.size(); ++i) scenes.emplace_back(server, kNestings[i], i);
  // A count of 2 is not enough: the acquire inside may not have read its answer.
  for (const OuterRun& scene : scenes)
    REQUIRE(eventually([&] { return std::filesystem::exists(scene.end + ".in"); }, kDeadline));
  for (const OuterRun& scene : scenes) REQUIRE(holds(scene.key) == 2);

  // The sleep is the length of the fault. It is longer than the pause between two renewals: each outer run
  // abandons a connection.
  server.freeze();
  std::this_thread::sleep_for(2200ms);
  server.thaw();
  for (const OuterRun& scene : scenes) std::ofstream{scene.end} << "now\n";

  for (std::size_t i = 0; i < scenes.size(); ++i) {
    CAPTURE(kNestings[i].name);
    CHECK(scenes[i].process->exit_code(kDeadline) == 0);
    CHECK_FALSE(contains(scenes[i].process->err(), "lost"));
  }
  const auto stays = [&] {
    for (std::size_t i = 0; i < scenes.size(); ++i) {
      CAPTURE(kNestings[i].name);
      CHECK(holds(scenes[i].key) == 1);
    }
    CHECK(server.pttl(scenes.back().key) > 3'500'000);
    return false;
  };
  CHECK_FALSE(eventually(stays, 1s));
}

namespace {

/// A run with the options `outer`, which ends at once, and a run with the options `inner` inside it, which goes on.
class Background {
 public:
  Background(RedisServer& server, const std::string& outer, const std::string& inner)
      : sign_(server.directory() + "/sign") {
    for (const char* const end : {".in", ".end", ".status"}) std::filesystem::remove(sign_ + end);
    Process::Options with = server.environment();
    with.env["RLOCK_BINARY"] = rlock_binary();
    with.env["SIGN"] = sign_;
    const std::string command = "(\"$RLOCK_BINARY\" run " + inner +
                                " -k k -c \"touch $SIGN.in; until [ -e $SIGN.end ]; do sleep 0.05; done\"; "
                                "echo $? >$SIGN.status) & until [ -e $SIGN.in ]; do sleep 0.05; done";
    const std::string line = "exec \"$RLOCK_BINARY\" run " + outer + " -k k -c '" + command + "'";
    process_ = std::make_unique<Process>(Words{"sh", "-c", line}, with);
    REQUIRE(process_->exit_code(kDeadline) == 0);
  }
  void end() {
    std::ofstream{sign_ + ".end"} << "now\n";
    CHECK(eventually([&] { return read_file(sign_ + ".status") == "0\n"; }, kDeadline));
  }

 private:
  std::string sign_;
  std::unique_ptr<Process> process_;
};

}  // namespace

TEST_CASE("--min-hold keeps the key although a run inside ends later than the command") {
  RedisServer server;
  const auto busy = [&](const Words& type) {
    Words words{"run", "-n", "-k", "k"};
    words.insert(words.end(), type.begin(), type.end());
    words.insert(words.end(), {"--", "true"});
    return Rlock{words, server.environment()}.exit_code() == 75;
  };
  for (const std::string type :
       {"--fair", "--fenced", "--type lock", "--type plain", "--permits 1", "-x", "-s"}) {
    CAPTURE(type);
    Background inner{server, type + " --min-hold 1h", type};
    inner.end();
    if (type == "-s") {
      CHECK(busy({"-x"}));
      CHECK(server.pttl("k") > 3'000'000);
      server.cli({"FLUSHALL"});
      continue;
    }
    const std::size_t blank = type.find(' ');
    CHECK(busy(blank == std::string::npos ? Words{type}
                                          : Words{type.substr(0, blank), type.substr(blank + 1)}));
    server.cli({"FLUSHALL"});
  }
}

TEST_CASE("a run inside a hold that cannot release it does not say that the key expires with its own lease") {
  RedisServer server;
  REQUIRE(server.rlock("lock", "acquire", "k", "--owner", "ci", "--lease", "1h").exit_code(kDeadline) == 0);
  Rlock run = server.rlock("run", "--owner", "ci", "--lease", "3s", "-k", "k", "--", "kill", "-STOP",
                           std::to_string(server.pid()));
  CHECK(run.exit_code(kDeadline) == 0);
  server.thaw();
  CHECK(contains(run.err(), "; it ends with the lease of the hold around it\n"));
  CHECK(server.pttl("k") > 3000000);
}

TEST_CASE("a run that cannot release its key does not say that it expires before the end of --min-hold") {
  RedisServer server;
  Rlock run = server.rlock("run", "--lease", "3s", "--min-hold", "100d", "-k", "k", "--", "kill", "-STOP",
                           std::to_string(server.pid()));
  CHECK(run.exit_code(kDeadline) == 0);
  server.thaw();
  CHECK(contains(run.err(), "; it expires within "));
  CHECK_FALSE_MESSAGE(contains(run.err(), "within 3s\n"), run.err());
}

TEST_CASE("if a run cannot release its keys, it says that only its own keys expire with its lease") {
  RedisServer server;
  Rlock run =
      server.rlock("run", "--lease", "1h", "-k", "outer", "--", rlock_binary(), "run", "--lease", "3s", "-k",
                   "outer", "-k", "own", "--", "kill", "-STOP", std::to_string(server.pid()));
  CHECK(run.exit_code(kDeadline) == 0);
  server.thaw();
  const auto said_of = [err = run.err()](const std::string& key) {
    const std::size_t begin = err.find("release of '" + key + "' not confirmed");
    return begin == std::string::npos ? "nothing" : err.substr(begin, err.find('\n', begin) - begin);
  };
  CHECK(said_of("outer").ends_with("; it ends with the lease of the hold around it"));
  CHECK(said_of("own").ends_with("; it expires within 3s"));
}

TEST_CASE("--min-hold of a write lock does not shorten the lease of a run inside that reads") {
  RedisServer server;
  for (const bool is_over : {true, false}) {
    CAPTURE(is_over);
    Background inner{server, std::string{"-x --min-hold "} + (is_over ? "1s" : "1h"), "-s"};
    CHECK(server.pttl("k") > 15'000);
    CHECK(server.rlock("run", "-nx", "-k", "k", "--", "true").exit_code() == 75);
    if (is_over) std::this_thread::sleep_for(1s);  // --min-hold has to pass
    inner.end();
    CHECK(eventually([&] { return server.has("k") != is_over; }, kDeadline));
    if (is_over) continue;
    CHECK(server.pttl("k") > 3'000'000);
    CHECK(server.rlock("run", "-ns", "-k", "k", "--", "true").exit_code() == 75);
  }
}

TEST_CASE("a run inside a hold notices at once if one release too many was its own") {
  RedisServer redis;
  for (const std::string type : {"lock", "read", "write", "fair"}) {
    CAPTURE(type);
    REQUIRE(redis.rlock("lock", "acquire", "-q", "k", "--owner", "me", "--lease", "60s", "--type", type)
                .exit_code(kDeadline) == 0);
    Rlock run = redis.rlock("run", "--owner", "me", "-k", "k", "--type", type, "--", "sleep", "60");
    REQUIRE(eventually([&] { return contains(redis.cli({"PUBSUB", "CHANNELS"}), ":me"); }, kDeadline));
    CHECK(redis.rlock("lock", "release", "k", "--owner", "me").exit_code(kDeadline) == 0);
    CHECK(throughout([&] { return run.running(); }, 300ms));
    CHECK(redis.rlock("lock", "release", "k", "--owner", "me").exit_code(kDeadline) == 0);
    CHECK(run.exit_code(8s) == 125);  // its next renewal would be after 10 s
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("a token or a permit is not free before the run inside the outer run has ended") {
  RedisServer server;
  for (const Words& type : {Words{"--type", "plain"}, Words{"--permits", "1"}}) {
    CAPTURE(type.front());
    const std::string options = type[0] + " " + type[1], sign = server.directory() + "/" + type[0];
    Process::Options with = server.environment();
    with.env["RLOCK_BINARY"] = rlock_binary();
    const std::string inner = "\"$RLOCK_BINARY\" run " + options + " -k k -c \"touch " + sign +
                              ".in; until [ -e " + sign + ".end ]; do sleep 0.05; done\"";
    Process outer{
        {rlock_binary(), "run", type[0], type[1], "-k", "k", "-c",
         "(" + inner + "; echo $? >" + sign + ".status) & until [ -e " + sign + ".in ]; do sleep 0.05; done"},
        with};
    REQUIRE(outer.exit_code(kDeadline) == 0);

    CHECK(server.rlock("run", "-n", type[0], type[1], "-k", "k", "--", "true").exit_code() == 75);
    std::ofstream{sign + ".end"} << "now\n";
    CHECK(server.rlock("run", "-w", "30s", type[0], type[1], "-k", "k", "--", "true").exit_code() == 0);
    CHECK(eventually([&] { return read_file(sign + ".status") == "0\n"; }, kDeadline));
    server.del("k");
  }
}
