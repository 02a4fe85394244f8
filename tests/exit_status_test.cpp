// Each exit status that the manual lists, produced by the binary; and bad input, of which no server hears.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "base/text.h"
#include "support/cli.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/redis_server.h"

namespace rlock::test {
namespace {

constexpr auto kDeadline = std::chrono::seconds{30};

int status_of(const RedisServer& redis, const Words& words) {
  return Rlock{words, redis.environment()}.exit_code(kDeadline);
}

Words run(Words options, Words command = {"true"}) {
  options.insert(options.begin(), {"run", "-k", "k"});
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return options;
}

/// Somebody else has `k`.
void occupy(RedisServer& redis) {
  redis.cli({"HSET", "k", "somebody:1", "1"});
  redis.cli({"PEXPIRE", "k", "60000"});
}

}  // namespace

TEST_CASE("the command's own status comes through") {
  RedisServer redis;
  for (const int status : {0, 1, 64, 75, 124, 125, 255})
    CHECK(status_of(redis, run({}, {"sh", "-c", "exit " + std::to_string(status)})) == status);
}

TEST_CASE("rlock dies of the signal that killed the command") {
  RedisServer redis;
  Rlock rlock{run({}, {"sh", "-c", "kill -KILL $$"}), redis.environment()};
  const int status = rlock.wait_status(kDeadline);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("75: busy, or the wait ended; -E changes it") {
  RedisServer redis;
  occupy(redis);
  CHECK(status_of(redis, run({"-n"})) == 75);
  CHECK(status_of(redis, run({"-w", "2s"})) == 75);
  CHECK(status_of(redis, run({"-nE", "0"})) == 0);
}

TEST_CASE("124: stopped by --max-hold, whatever the command then answers") {
  RedisServer redis;
  CHECK(status_of(redis, run({"--max-hold", "100ms"}, {"sleep", "60"})) == 124);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("125: the lock was lost while the command ran") {
  RedisServer redis;
  Rlock rlock{run({"--lease", "3s"}, {"sleep", "60"}), redis.environment()};
  REQUIRE(eventually([&] { return redis.has("k"); }, kDeadline));
  redis.del("k");
  CHECK(rlock.exit_code(kDeadline) == 125);
}

TEST_CASE("126 and 127: the command cannot be executed, is not found") {
  RedisServer redis;
  CHECK(status_of(redis, run({}, {"/etc/passwd"})) == 126);
  CHECK(status_of(redis, run({}, {"/"})) == 126);
  CHECK(status_of(redis, run({}, {"/nonexistent/command"})) == 127);
  CHECK_FALSE(redis.has("k"));
  Monitor monitor{redis};
  CHECK(status_of(redis, run({}, {"no-such-command-anywhere"})) == 127);
  CHECK(monitor.commands().empty());
}

TEST_CASE("65: the key holds something else") {
  RedisServer redis;
  redis.cli({"RPUSH", "k", "x"});
  CHECK(status_of(redis, run({})) == 65);
}

TEST_CASE("69: no server, 77: not admitted, 70: an answer that makes no sense") {
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  CHECK(Rlock{run({}), options}.exit_code(kDeadline) == 69);

  RedisServer secret{{.config = {"requirepass CANARY"}}};
  options.env["RLOCK_URL"] = secret.url();
  CHECK(Rlock{run({}), options}.exit_code(kDeadline) == 77);

  FakeRedis fake;
  fake.on("EVALSHA", wire::array({wire::integer(99)}));
  options.env["RLOCK_URL"] = fake.url();
  CHECK(Rlock{run({"-n"}), options}.exit_code(kDeadline) == 70);
}

TEST_CASE("71: what was asked for cannot be written") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors = {{1, full}};
  for (const std::string line :
       {"--help", "--version", "run --help", "lock --help", "inspect k", "inspect --json k", "lock status k",
        "scripts list", "scripts show lock/acquire", "completion bash", "sem status k", "latch status k",
        "doctor"}) {
    CAPTURE(line);
    Rlock rlock{split(line, ' '), options};
    CHECK(rlock.exit_code(kDeadline) == 71);
    CHECK(rlock.err().find("write error on stdout") != std::string::npos);
  }
  Process::Options closed = redis.environment();
  closed.closed = {1};
  CHECK(Rlock{{"--help"}, closed}.exit_code(kDeadline) == 71);
  CHECK(Rlock{run({"--status-file", "/nonexistent/status"}), redis.environment()}.exit_code(kDeadline) == 71);
  ::close(full);
}

TEST_CASE("killed by the signal that ended the wait") {
  RedisServer redis;
  occupy(redis);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    Rlock rlock{run({}), redis.environment()};
    REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }, kDeadline));
    rlock.signal(number);
    const int status = rlock.wait_status(kDeadline);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 0; }, kDeadline));
  }
}

TEST_CASE("bad input ends with one line, and no byte of it reaches a server") {
  FakeRedis recorder;
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = recorder.url();
  struct Bad {
    Words words;
    int status;
  };
  const std::vector<Bad> catalogue{
      {{"run"}, 64},
      {{"run", "deploy", "./x"}, 64},
      {{"run", "-k", "", "true"}, 64},
      {{"run", "-k", std::string(4097, 'k'), "true"}, 64},
      {{"run", "-k", "k"}, 64},
      {{"run", "-k", "k", ""}, 64},
      {{"run", "-k", "k", "-c", "x", "y"}, 64},
      {{"run", "-k", "k", "--read", "--write", "true"}, 64},
      {run({"--lease", "0"}), 64},
      {run({"--lease", "1e3"}), 64},
      {run({"--wait", "-1"}), 64},
      {run({"-E", "256"}), 64},
      {run({"--timeout", "3"}), 64},
      {run({"-h", "db1"}), 64},
      {run({"-a", "CANARY"}), 64},
      {run({"--signal", "NOPE"}), 64},
      {run({"--type", "sem"}), 64},
      {run({"--url", "http://u:CANARY@h"}), 64},
      {run({"--status-fd", "99"}), 64},
      {run({"--lost-grace", "60s"}), 78},
      {run({"--lease", "100ms"}), 78},
      {run({"--min-hold", "2m", "--max-hold", "1m"}), 78},
      {run({"--config", "/nonexistent"}), 78},
      {run({"--config", "/dev/zero"}), 78},
      {{"lock", "acquire", "k"}, 64},
      {{"lock", "release", "k"}, 64},
      {{"lock", "acquire", "k", "--lease", "1m", "--owner", "a b"}, 64},
      {{"unlock"}, 64},
      {{"inspect", ""}, 64},
      {{"inspect", "--jsno"}, 64},
      {{"sem", "init", "k", "-1"}, 64},
      {{"latch", "set", "k", "0"}, 64},
      {{"permit", "release", "k", "zz"}, 64},
      {{"scripts", "show", "x"}, 64},
      {{"isnpect"}, 64},
      {{"--url", "redis://h", "run"}, 64},
  };
  for (const Bad& bad : catalogue) {
    CAPTURE(joined(bad.words, " ").substr(0, 100));
    Rlock rlock{bad.words, options};
    CHECK(rlock.exit_code(kDeadline) == bad.status);
    CHECK(rlock.out().empty());
    CHECK(rlock.err().starts_with("rlock: "));
    CHECK(split(rlock.err(), '\n').size() == 2);
    CHECK(rlock.err().find("CANARY") == std::string::npos);
  }
  CHECK(recorder.received().empty());
}

}  // namespace rlock::test
