// rlock run --once-per: one success per period, on all hosts together.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

Words once(const std::string& period, Words options, Words command = {"true"}) {
  options.insert(options.begin(), {"run", "-k", "report", "--once-per", period});
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return options;
}

}  // namespace

TEST_CASE("finished work is not done again: exit code 0, outcome done, and the host that did it") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced"}) {
    CAPTURE(type);
    TempDir folder;
    const Words status{"--type", type, "--status-file", folder / "status"};
    CHECK(status_of(redis, once("10m", status)) == 0);
    CHECK(contains(read_file(folder / "status"), "\"outcome\":\"ran\""));
    CHECK(contains(read_file(folder / "status"), "\"released\":\"kept\""));
    CHECK(redis.pttl("report") > 590'000);
    for (const Words& wait : {Words{}, Words{"-n"}, Words{"-w", "5s"}}) {
      Words options = status;
      options.insert(options.end(), wait.begin(), wait.end());
      options.push_back("-v");
      Rlock next{once("10m", options, {"touch", folder / "again"}), redis.environment()};
      CHECK(next.exit_code() == 0);
      CHECK(contains(next.err(), "'report' was done "));
      CHECK(contains(next.err(), "; again after "));
      CHECK(contains(read_file(folder / "status"), "\"outcome\":\"done\",\"exit\":0"));
      CHECK_FALSE(std::filesystem::exists(folder / "again"));
    }
    for (const Words& words : {Words{"-q", "--type", type}, Words{"--type", type}}) {
      Rlock quiet{once("10m", words), redis.environment()};
      CHECK(quiet.exit_code() == 0);
      CHECK_MESSAGE(quiet.err().empty(), "cron would mail it from every host: ", quiet.err());
    }
    Words line = once("10m", {"--type", type});
    line.insert(line.begin(), rlock_binary());
    Pty person{line, redis.environment()};
    person.expect("'report' was done ");
    CHECK(person.exit_code() == 0);
    // To a run without --once-per the key is held.
    CHECK(status_of(redis, {"run", "-qn", "--type", type, "-k", "report", "--", "true"}) == 75);
    CHECK(redis.cli({"TYPE", "report"}) == "hash");
    CHECK(status_of(redis, {"unlock", "-y", "report"}) == 0);
    CHECK(status_of(redis, once("10m", {"-qn", "--type", type}, {"touch", folder / "again"})) == 0);
    CHECK(std::filesystem::exists(folder / "again"));
    redis.cli({"FLUSHALL"});
  }
}

TEST_CASE("runs that wait end when the work is done, wherever they stand in the line") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced"}) {
    CAPTURE(type);
    TempDir folder;
    REQUIRE(Process{{"mkfifo", folder / "go"}}.exit_code() == 0);
    Rlock worker{once("10m", {"--type", type}, {"sh", "-c", "read -r line <" + (folder / "go")}),
                 redis.environment()};
    REQUIRE(eventually([&] { return redis.has("report"); }, 10s));
    std::vector<Rlock> waiters;
    for (int i = 0; i < 6; ++i)
      waiters.emplace_back(once("10m", {"-v", "--type", type}, {"touch", folder / "again"}),
                           redis.environment());
    const std::string queue =
        type == "fair" ? "redisson_lock_queue:{report}" : "redisson_unlock_latch:{report}:line";
    const std::string length = type == "fair" ? "LLEN" : "ZCARD";
    REQUIRE(eventually([&] { return redis.cli({length, queue}) == "6"; }, 20s));
    write_file(folder / "go", "go\n");
    CHECK(worker.exit_code() == 0);
    const auto done = std::chrono::steady_clock::now();
    for (Rlock& waiter : waiters) {
      CHECK(waiter.exit_code() == 0);
      CHECK(contains(waiter.err(), "'report' was done "));
    }
    CHECK(std::chrono::steady_clock::now() - done < 3s);
    CHECK_FALSE(std::filesystem::exists(folder / "again"));
    redis.cli({"FLUSHALL"});
  }
}

TEST_CASE("if the work was not finished, the next run tries it") {
  RedisServer redis;
  CHECK(status_of(redis, once("10m", {}, {"false"})) == 1);
  CHECK_FALSE(redis.has("report"));
  CHECK(status_of(redis, once("10m", {"--max-hold", "100ms"}, {"sleep", "9"})) == 124);
  CHECK_FALSE(redis.has("report"));
  CHECK(status_of(redis, once("10m", {}, {"sh", "-c", "kill -KILL $$"})) == 128 + SIGKILL);
  CHECK_FALSE(redis.has("report"));
  CHECK(status_of(redis, once("10m", {}, {"/etc/passwd"})) == 126);
  CHECK_FALSE(redis.has("report"));
  CHECK(status_of(redis, once("10m", {})) == 0);
  CHECK(redis.has("report"));
}

TEST_CASE("a lock that was removed by force and taken again is not taken for done") {
  RedisServer redis;
  CHECK(status_of(redis, once("10m", {})) == 0);
  CHECK(status_of(redis, {"unlock", "-y", "report"}) == 0);
  const std::string owner = acquired(redis, "report");
  CHECK(status_of(redis, once("10m", {"-qn"})) == 75);
}

TEST_CASE("a work that took longer than its period leaves nothing behind") {
  RedisServer redis;
  CHECK(status_of(redis, once("100ms", {}, {"sleep", "0.3"})) == 0);
  CHECK(redis.keys().empty());
}

TEST_CASE("a work is marked as done although the server is silent for longer than a release may take") {
  RedisServer redis;
  TempDir folder;
  const std::string go = folder / "go";
  Rlock run{once("10m", {"--lease", "30s"}, {"sh", "-c", "until [ -e \"$0\" ]; do sleep 0.01; done", go}),
            redis.environment()};
  REQUIRE(eventually([&] { return run.family().size() >= 3; }, 10s));
  redis.freeze();
  write_file(go, "");
  REQUIRE(eventually([&] { return run.family().size() < 3; }, 10s));
  CHECK(throughout([&] { return run.running(); }, 1500ms));
  redis.thaw();
  CHECK_MESSAGE(run.exit_code() == 0, run.err());
  Rlock again{once("10m", {}, {"echo", "again"}), redis.environment()};
  CHECK(again.exit_code() == 0);
  CHECK(again.out().empty());
}

TEST_CASE("--once-per is for one key of a lock that one owner has, on one server") {
  RedisServer redis;
  for (const Words& more :
       {Words{"-s"}, Words{"-x"}, Words{"--permits", "3"}, Words{"--type", "plain"}, Words{"--type", "spin"},
        Words{"-k", "other"}, Words{"--min-hold", "1m"}, Words{"-u", redis.url(), "-u", "unix:///nowhere"}}) {
    CAPTURE(more.front());
    Rlock refused{once("10m", more), redis.environment()};
    CHECK(refused.exit_code() == 64);
    CHECK(contains(refused.err(), "--once-per "));
  }
  Rlock nested{
      {"run", "-k", "report", "--", rlock_binary(), "run", "-k", "report", "--once-per", "1m", "--", "true"},
      redis.environment()};
  CHECK(nested.exit_code() == 64);
  CHECK(redis.keys().empty());
}

/// Starts twenty runs at once in each of ten periods; the command must succeed once per period.
void twenty_at_once(const std::string& command_line) {
  RedisServer redis;
  TempDir folder;
  Process::Options options = redis.environment();
  options.env["DONE"] = folder / "done";
  for (int period = 1; period <= 10; ++period) {
    CAPTURE(period);
    std::vector<Rlock> hosts;
    for (int i = 0; i < 20; ++i) hosts.emplace_back(once("30s", {"-q"}, {"sh", "-c", command_line}), options);
    for (Rlock& host : hosts) {
      const int status = host.exit_code(60s);
      CHECK((status == 0 || status == 3));
    }
    CHECK(lines_in(read_file(folder / "done")) == static_cast<std::size_t>(period));
    redis.cli({"DEL", "report"});  // ends the period
  }
}

TEST_CASE("twenty hosts at once, ten periods: ten successes") { twenty_at_once("echo x >>$DONE"); }

TEST_CASE("a command that fails half of the time still succeeds once in each of ten periods") {
  twenty_at_once(
      "[ $((0x$(head -c1 /dev/urandom | od -An -tx1 | tr -d ' ') % 2)) = 0 ] || exit 3; echo x >>$DONE");
}

TEST_CASE("a period ends by itself, by the server's clock") {
  RedisServer redis;
  TempDir folder;
  Process::Options options = redis.environment();
  options.env["DONE"] = folder / "done";
  const Words words = once("1s", {"-q"}, {"sh", "-c", "echo x >>$DONE"});
  CHECK(Rlock{words, options}.exit_code() == 0);
  CHECK(Rlock{words, options}.exit_code() == 0);
  CHECK(lines_in(read_file(folder / "done")) == 1);
  REQUIRE(eventually([&] { return !redis.has("report"); }, 5s));
  CHECK(Rlock{words, options}.exit_code() == 0);
  CHECK(lines_in(read_file(folder / "done")) == 2);
}

TEST_CASE("--once-per and --min-hold keep their promises although an inner hold outlives the command") {
  for (const std::string type : {"lock", "fair", "fenced"}) {
    for (const std::string keeps : {"--once-per", "--min-hold"}) {
      CAPTURE(type);
      CAPTURE(keeps);
      RedisServer redis;
      TempDir folder;
      REQUIRE(Process{{"mkfifo", folder / "go"}}.exit_code() == 0);
      const std::string inner = fmt::format(
          "'{}' run -k report --type {} -- sh -c ': >{}/on; read -r _ <{}/go' & until [ -e {}/on ]; do sleep 0.05; done",
          rlock_binary(), type, folder.path(), folder.path(), folder.path());
      // The object outlives the checks: its end would end the inner run, too.
      Rlock outer = redis.rlock("run", "-k", "report", "--type", type, keeps, "10m", "--", "sh", "-c", inner);
      CHECK(outer.exit_code() == 0);
      const Words again{"run",        "-n",  "-k", "report", "--type",        type,
                        "--once-per", "10m", "--", "touch",  folder / "again"};
      const int expected = keeps == "--once-per" ? 0 : 75;
      CHECK(status_of(redis, again) == expected);
      write_file(folder / "go", "go\n");
      CHECK(eventually([&] { return redis.pttl("report") > 500'000; }, 10s));
      CHECK(status_of(redis, again) == expected);
      CHECK_FALSE(std::filesystem::exists(folder / "again"));
    }
  }
}
