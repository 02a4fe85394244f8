// --if-unreachable: what run and flock do without a server, in each state of a server.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/process.h"
#include "support/redis_server.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// A server with this answer to each script; to EXISTS it answers `exists`, or with `exists` below 0 the same
/// answer.
std::unique_ptr<FakeRedis> answering(const std::string& answer, int exists = 0) {
  auto fake = std::make_unique<FakeRedis>();
  fake->decide([=](const Words& words) -> std::optional<std::string> {
    if (words.front() == "EXISTS" && exists >= 0) return wire::integer(exists);
    if (words.front() == "EXISTS" || words.front() == "EVAL" || words.front() == "EVALSHA") return answer;
    return std::nullopt;
  });
  return fake;
}

struct Ended {
  int status;
  std::string out, last_line, record;
};

/// The last line of `text`. If rlock has waited for a silent server for a second, a wait line stands before it.
std::string last_line_of(std::string text) {
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// Runs rlock once, with this choice, at this server.
Ended ended_once(const std::string& url, const std::string& choice, Words more = {}) {
  TempDir folder;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = url;
  options.env["RLOCK_OWNER"] = "outer:1";
  Words words{
      "run", "-n", "-k", "k", "--command-timeout", "1s", "--status-file", folder / "s", "--if-unreachable",
      choice};
  words.insert(words.end(), more.begin(), more.end());
  for (const char* word : {"--", "sh", "-c", "echo held=$RLOCK_HELD owner=$RLOCK_OWNER; exit 3"})
    words.emplace_back(word);
  Rlock rlock{words, options};
  const int status = rlock.exit_code(kDeadline);
  const std::string err = rlock.err();
  return {status, rlock.out(), err.empty() ? err : last_line_of(err), read_file(folder / "s")};
}

/// Checks that the command ran without a lock, and that rlock printed so.
void check_ran(const Ended& ended) {
  CHECK(ended.status == 3);
  CHECK(ended.out == "held=0 owner=\n");
  CHECK(contains(ended.last_line, "; the command runs without a lock (--if-unreachable run)"));
  CHECK(contains(ended.record,
                 R"("outcome":"ran","exit":3,"command_exit":3,"command_signal":null,"locked":false,)"));
  CHECK(contains(ended.record, R"("held_ms":null,"released":null)"));
  CHECK_FALSE(contains(ended.record, R"("error":null)"));
}

void check_skipped(const Ended& ended) {
  CHECK(ended.status == 0);
  CHECK(ended.out == "");
  CHECK(contains(ended.last_line, "; the command does not run (--if-unreachable skip)"));
  CHECK(contains(ended.record, R"("outcome":"unreachable","exit":0,)"));
  CHECK(contains(ended.record, R"("locked":false)"));
}

void check_failed(const Ended& ended) {
  CHECK(ended.status == 69);
  CHECK(ended.out == "");
  CHECK(contains(ended.last_line, "cannot use redis at "));
  CHECK_FALSE(contains(ended.last_line, "--if-unreachable"));
  CHECK(contains(ended.record, R"("outcome":"unreachable","exit":69,)"));
}

}  // namespace

TEST_CASE("a server that cannot be used: fail is 69, skip is 0, run runs the command without a lock") {
  struct State {
    std::string name;
    std::string answer;
    int exists;
  };
  const std::vector<State> states{
      {"silent", wire::kSilence, -1},
      {"loading", wire::error("LOADING Redis is loading the dataset in memory"), -1},
      {"cluster down", wire::error("CLUSTERDOWN The cluster is down"), -1},
      {"busy with a script", wire::error("BUSY Redis is busy running a script"), -1},
      {"no memory", wire::error("OOM command not allowed when used memory > 'maxmemory'"), 0},
      {"cannot save", wire::error("MISCONF Redis is configured to save RDB snapshots"), 0},
      {"hangs up", wire::kClose, -1},
  };
  for (const State& state : states) {
    CAPTURE(state.name);
    const auto fake = answering(state.answer, state.exists);
    check_failed(ended_once(fake->url(), "fail"));
    check_skipped(ended_once(fake->url(), "skip"));
    check_ran(ended_once(fake->url(), "run"));
  }
  const std::string refused = "unix:///nonexistent/redis.sock";
  check_failed(ended_once(refused, "fail"));
  check_skipped(ended_once(refused, "skip"));
  check_ran(ended_once(refused, "run"));
  check_ran(ended_once(refused, "run", {"--type", "permit"}));
  check_skipped(ended_once(refused, "skip", {"--type", "permit"}));
  check_ran(ended_once(refused + " unix:///nonexistent/2 unix:///nonexistent/3", "run"));
}

TEST_CASE("no command runs without a lock if a server still reports that the key exists") {
  const auto fake = answering(wire::error("OOM command not allowed when used memory > 'maxmemory'"), 1);
  const Ended ended = ended_once(fake->url(), "run");
  CHECK(ended.status == 69);
  CHECK(ended.out == "");
  CHECK(contains(ended.last_line, "; 'k' exists there, so the command does not run without a lock"));
  CHECK(contains(ended.record, R"("outcome":"unreachable","exit":69,)"));
  const Ended permit = ended_once(fake->url(), "run", {"--type", "permit"});
  CHECK(permit.status == 69);
  CHECK(contains(permit.last_line,
                 "; 'k' exists there, and its permits may be taken, so the command does not run"));
}

TEST_CASE("--if-unreachable changes no other status: busy, denied, another type, a wrong configuration") {
  RedisServer redis;
  redis.cli({"HSET", "k", "somebody:1", "1"});
  redis.cli({"PEXPIRE", "k", "60000"});
  const auto denied = answering(wire::error("NOPERM this user has no permissions"));
  const auto other_type = answering(wire::error("WRONGTYPE Operation against a key"));
  const auto no_scripts = answering(wire::error("ERR unknown command 'EVALSHA', with args beginning with:"));
  for (const char* choice : {"skip", "run"}) {
    CAPTURE(choice);
    for (const auto& [url, status] : {std::pair{redis.url(), 75},
                                      {denied->url(), 77},
                                      {other_type->url(), 65},
                                      {no_scripts->url(), 78}}) {
      CAPTURE(status);
      const Ended ended = ended_once(url, choice);
      CHECK(ended.status == status);
      CHECK(ended.out == "");
      CHECK(contains(ended.record, R"("locked":false)"));
    }
  }
  CHECK(ended_once(redis.url(), "perhaps").status == 64);
}

TEST_CASE("if a server says busy and then dies, the status is 69 even with run, and 0 with skip") {
  for (const auto& [choice, status] : {std::pair{"run", 69}, {"skip", 0}}) {
    CAPTURE(choice);
    RedisServer redis;
    redis.cli({"HSET", "k", "somebody:1", "1"});
    redis.cli({"PEXPIRE", "k", "60000"});
    Rlock rlock{{"run", "-w", "3s", "-k", "k", "--if-unreachable", choice, "--", "echo", "ran"},
                redis.environment()};
    REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }, kDeadline));
    redis.kill();
    CHECK(rlock.exit_code(kDeadline) == status);
    CHECK(rlock.out() == "");
    if (status == 69)
      CHECK_MESSAGE(rlock.err().ends_with(
                        "; the lock was busy during the wait, so the command does not run without a lock\n"),
                    rlock.err());
  }
}

TEST_CASE(
    "--if-unreachable does not hide what waiting does not mend: another program, or a server that denies") {
  const auto denied = answering(wire::error("NOPERM this user has no permissions"));
  const auto web = answering("HTTP/1.1 400 Bad Request\r\n\r\n");
  RedisServer redis;
  FakeRedis plaintext{FakeRedis::Transport::tcp};
  plaintext.greet_with("-ERR Protocol error\r\n");
  const std::string dead = "unix:///nonexistent/redis.sock";
  const std::string tls = fmt::format("rediss://127.0.0.1:{}", plaintext.port());
  const std::string cluster = fmt::format("rediss+cluster://127.0.0.1:{}", plaintext.port());
  const std::string sentinel = fmt::format("rediss+sentinel://127.0.0.1:{}/mymaster", plaintext.port());
  for (const char* choice : {"skip", "run"}) {
    CAPTURE(choice);
    const std::string ignored =
        fmt::format("; waiting does not mend this, so rlock does not obey --if-unreachable {}", choice);
    for (const std::string& url :
         {web->url(), tls, cluster, sentinel, redis.url() + " " + denied->url() + " " + dead}) {
      CAPTURE(url);
      const Ended ended = ended_once(url, choice);
      CHECK(ended.status == 69);
      CHECK(ended.out == "");
      CHECK_MESSAGE(contains(ended.last_line, ignored), ended.last_line);
      CHECK(contains(ended.record, R"("outcome":"unreachable","exit":69,)"));
    }
  }
}

TEST_CASE("with a usable server the command runs under the lock, with any --if-unreachable") {
  RedisServer redis;
  for (const char* choice : {"fail", "skip", "run"}) {
    const Ended ended = ended_once(redis.url(), choice);
    CHECK(ended.status == 3);
    CHECK(contains(ended.out, "held=1 owner="));
    CHECK(contains(ended.record, R"("locked":true)"));
  }
}

TEST_CASE("with -q, skip says nothing about a silent server either") {
  const auto fake = answering(wire::kSilence, -1);
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = fake->url();
  Rlock rlock{{"run", "-qn", "-k", "k", "--if-unreachable", "skip", "--", "echo", "ran"}, options};
  CHECK(rlock.exit_code(kDeadline) == 0);
  CHECK(rlock.out() + rlock.err() == "");
}

TEST_CASE("-q hides the line of skip and not the warning of run; flock is silent about skip by itself") {
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  Rlock skips{{"run", "-q", "-k", "k", "--if-unreachable", "skip", "--", "echo", "ran"}, options};
  CHECK(skips.exit_code(kDeadline) == 0);
  CHECK(skips.out() + skips.err() == "");
  Rlock runs{{"run", "-q", "-k", "k", "--if-unreachable", "run", "--", "echo", "ran"}, options};
  CHECK(runs.exit_code(kDeadline) == 0);
  CHECK(runs.out() == "ran\n");
  CHECK(contains(runs.err(), "runs without a lock"));
  Rlock flock_skips{{"flock", "--if-unreachable", "skip", "k", "echo", "ran"}, options};
  CHECK(flock_skips.exit_code(kDeadline) == 0);
  CHECK(flock_skips.out() + flock_skips.err() == "");
  Rlock flock_runs{{"flock", "--if-unreachable", "run", "k", "sh", "-c", "kill -TERM $$"}, options};
  CHECK(flock_runs.exit_code(kDeadline) == 128 + SIGTERM);
  CHECK(contains(flock_runs.err(), "runs without a lock"));
}

TEST_CASE(
    "a command without a lock ends as one under a lock: by its signal, by --max-hold, by ours, or before it runs") {
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  const auto words = [](Words more, const std::string& command) {
    Words all{"run", "-k", "k", "--if-unreachable", "run"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"-c", command});
    return all;
  };
  Rlock killed{words({}, "kill -KILL $$"), options};
  const int status = killed.wait_status(kDeadline);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK(Rlock{words({"--max-hold", "100ms"}, "sleep 60"), options}.exit_code(kDeadline) == 124);
  CHECK(Rlock{words({}, "exec /nonexistent/command"), options}.exit_code(kDeadline) == 127);
  Rlock missing{{"run", "-k", "k", "--if-unreachable", "run", "--", "/dev/null"}, options};
  CHECK(missing.exit_code(kDeadline) == 126);
  CHECK_MESSAGE(contains(missing.err(), "cannot run '/dev/null'"), missing.err());
  Rlock ended{words({}, "trap 'exit 7' TERM; echo ready; sleep 60 & wait"), options};
  REQUIRE(eventually([&] { return ended.out() == "ready\n"; }, kDeadline));
  ended.signal(SIGTERM);
  CHECK(ended.exit_code(kDeadline) == 7);
}

TEST_CASE("a command without a lock goes on if rlock is killed") {
  TempDir folder;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  const std::string said = folder / "said";
  Rlock run{{"run", "-k", "k", "--if-unreachable", "run", "--", "sh", "-c",
             "kill -KILL $PPID; sleep 0.2; echo went on > \"$0\"", said},
            options};
  CHECK(WTERMSIG(run.wait_status(kDeadline)) == SIGKILL);
  CHECK(eventually([&] { return std::filesystem::exists(said); }, kDeadline));
}

TEST_CASE("the configuration file sets if-unreachable, and the option beats it") {
  TempDir folder;
  write_file(folder / "config", "if-unreachable = skip\n");
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  options.env["RLOCK_CONFIG"] = folder / "config";
  CHECK(Rlock{{"run", "-k", "k", "--", "false"}, options}.exit_code(kDeadline) == 0);
  CHECK(Rlock{{"flock", "k", "false"}, options}.exit_code(kDeadline) == 0);
  CHECK(Rlock{{"run", "-k", "k", "--if-unreachable", "fail", "--", "true"}, options}.exit_code(kDeadline) ==
        69);
  CHECK(Rlock{{"inspect", "k"}, options}.exit_code(kDeadline) == 69);
  Rlock config{{"config"}, options};
  CHECK(config.exit_code(kDeadline) == 0);
  CHECK(contains(config.out(), "if-unreachable"));
  CHECK(contains(config.out(), "skip"));
}
