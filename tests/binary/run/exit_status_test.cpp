// Each exit status in the manual, produced by the binary; and bad input, which never reaches a server.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Words run_words(Words options, Words command = {"true"}) {
  options.insert(options.begin(), {"run", "-k", "k"});
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return options;
}

/// Takes `k` for another owner.
void occupy(RedisServer& redis) {
  redis.cli({"HSET", "k", "somebody:1", "1"});
  redis.cli({"PEXPIRE", "k", "60000"});
}

}  // namespace

TEST_CASE("75: busy, or the wait ended; -E changes it") {
  RedisServer redis;
  occupy(redis);
  CHECK(status_of(redis, run_words({"-n"}), kDeadline) == 75);
  CHECK(status_of(redis, run_words({"-w", "2s"}), kDeadline) == 75);
  CHECK(status_of(redis, run_words({"-nE", "0"}), kDeadline) == 0);
}

TEST_CASE("124: stopped by --max-hold, with any exit code of the command") {
  RedisServer redis;
  CHECK(status_of(redis, run_words({"--max-hold", "100ms"}, {"sleep", "60"}), kDeadline) == 124);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("125: the lock was lost while the command ran") {
  RedisServer redis;
  Rlock rlock{run_words({"--lease", "3s"}, {"sleep", "60"}), redis.environment()};
  REQUIRE(eventually([&] { return redis.has("k"); }, kDeadline));
  redis.del("k");
  CHECK(rlock.exit_code(kDeadline) == 125);
}

TEST_CASE("126 and 127: the command cannot be executed, is not found") {
  RedisServer redis;
  CHECK(status_of(redis, run_words({}, {"/etc/passwd"}), kDeadline) == 126);
  CHECK(status_of(redis, run_words({}, {"/"}), kDeadline) == 126);
  CHECK(status_of(redis, run_words({}, {"/nonexistent/command"}), kDeadline) == 127);
  CHECK_FALSE(redis.has("k"));
  Monitor monitor{redis};
  CHECK(status_of(redis, run_words({}, {"no-such-command-anywhere"}), kDeadline) == 127);
  CHECK(monitor.commands().empty());
}

TEST_CASE("65: the key holds something else") {
  RedisServer redis;
  redis.cli({"RPUSH", "k", "x"});
  CHECK(status_of(redis, run_words({}), kDeadline) == 65);
}

TEST_CASE("69: no server, 77: not admitted, 70: an answer that makes no sense") {
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  CHECK(Rlock{run_words({}), options}.exit_code(kDeadline) == 69);

  RedisServer secret{{.config = {"requirepass CANARY"}}};
  options.env["RLOCK_URL"] = secret.url();
  CHECK(Rlock{run_words({}), options}.exit_code(kDeadline) == 77);

  FakeRedis fake;
  fake.on("EVALSHA", wire::array({wire::integer(99)}));
  options.env["RLOCK_URL"] = fake.url();
  CHECK(Rlock{run_words({"-n"}), options}.exit_code(kDeadline) == 70);
}

TEST_CASE("71: the requested output cannot be written") {
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
    CHECK(contains(rlock.err(), "write error on stdout"));
  }
  Process::Options closed = redis.environment();
  closed.closed = {1};
  CHECK(Rlock{{"--help"}, closed}.exit_code(kDeadline) == 71);
  CHECK(Rlock{run_words({"--status-file", "/nonexistent/status"}), redis.environment()}.exit_code(
            kDeadline) == 71);
  ::close(full);
}

TEST_CASE("killed by the signal that ended the wait") {
  RedisServer redis;
  occupy(redis);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    Rlock rlock{run_words({}), redis.environment()};
    REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }, kDeadline));
    rlock.signal(number);
    const int status = rlock.wait_status(kDeadline);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 0; }, kDeadline));
  }
}

TEST_CASE("each status of each verb without a command, in the order in which a script would see them") {
  RedisServer redis{{.config = {"appendonly yes"}}};
  TempDir home;
  struct Step {
    std::string line;
    int status;
  };
  const std::vector<Step> steps{
      {"lock status l", 1},
      {"lock acquire -n l --lease 1m --owner me", 0},
      {"lock acquire -n l --lease 1m --owner me", 0},
      {"lock acquire -n l --lease 1m --owner you", 75},
      {"lock acquire l --lease 1m --owner you -w 200ms", 75},
      {"lock acquire l --owner you", 64},
      {"lock status l", 0},
      {"lock status l --owner me", 0},
      {"lock status l --owner you", 1},
      {"lock renew l --owner me", 0},
      {"lock renew l --owner you", 1},
      {"lock release l --owner you", 1},
      {"lock release l --owner me", 0},
      {"lock release l --owner me", 1},
      {"lock renew l --owner me", 1},
      {"unlock --yes l", 1},
      {"lock acquire -n l --lease 1m --owner me", 0},
      {"unlock l", 64},
      {"unlock --yes --if-owner you l", 1},
      {"unlock --yes l", 0},
      {"sem status s", 1},
      {"sem acquire s", 1},
      {"sem release s", 1},
      {"sem add s 1", 1},
      {"sem drain s", 1},
      {"sem delete s", 1},
      {"sem init s 1", 0},
      {"sem init s 2", 1},
      {"sem status s", 0},
      {"sem acquire s", 0},
      {"sem acquire -n s", 75},
      {"sem release s", 0},
      {"sem add s 1", 0},
      {"sem drain s", 0},
      {"lock acquire s --lease 1m", 65},
      {"sem delete --yes s", 0},
      {"permit status p", 1},
      {"permit acquire p --lease 1m", 1},
      {"permit add p 1", 1},
      {"permit delete p", 1},
      {"permit init p 1", 0},
      {"permit init p 1", 1},
      {"permit status p", 0},
      {"permit acquire p", 64},
      {"permit acquire p --lease 1m", 0},
      {"permit acquire -nE 9 p --lease 1m", 9},
      {"permit renew p 00000000000000000000000000000000 --lease 1m", 1},
      {"permit release p 00000000000000000000000000000000", 1},
      {"permit add p 1", 0},
      {"permit delete -y p", 0},
      {"lock wait free", 0},
      {"latch status c", 1},
      {"latch wait c", 1},
      {"latch wait c --absent-ok", 0},
      {"latch down c", 1},
      {"latch delete c", 1},
      {"latch set c 1", 0},
      {"latch set c 1", 1},
      {"latch status c", 1},
      {"latch wait -n c", 75},
      {"latch down c", 0},
      {"latch status c", 0},
      {"latch wait c", 0},
      {"latch set d 1", 0},
      {"latch delete d", 0},
      {"inspect", 0},
      {"inspect nothing", 0},
      {"doctor", 0},
      {"scripts load", 0},
      {"scripts list", 0},
      {"scripts show lock/acquire", 0},
      {"scripts show nothing", 64},
      {"completion zsh", 0},
      {"server status", 1},
      {"server stop", 1},
      {"server start", 0},
      {"server status", 0},
      {"server stop", 0},
  };
  Process::Options options = redis.environment();
  options.env["HOME"] = home.path();
  options.env["XDG_STATE_HOME"] = home / "state";
  options.own_session = true;
  for (const Step& step : steps) {
    CAPTURE(step.line);
    Rlock rlock{split(step.line, ' '), options};
    CHECK_MESSAGE(rlock.exit_code(kDeadline) == step.status, rlock.err());
  }
  redis.cli({"CONFIG", "SET", "appendonly", "no"});
  CHECK(Rlock{{"doctor"}, options}.exit_code(kDeadline) == 1);
}

TEST_CASE("words of another tool get an explanation, and slips a question") {
  const std::vector<std::pair<std::string, std::string>> answers{
      {"run --timeout 3 -k k true", "--timeout: did you mean --wait (for the lock) or --max-hold"},
      {"run -h db1 -k k true", "for a server say --url redis://db1"},
      {"run -p 6379 -k k true", "-p: for a server say --url redis://HOST:PORT"},
      {"run -a x -k k true",
       "-a: every user of this host can read a password on the command line; use --password-file"},
      {"run --pass x -k k true",
       "--pass: every user of this host can read a password on the command line; use --password-file"},
      {"run --ttl 3 -k k true", "--ttl: did you mean --lease?"},
      {"run -e -k k true", "-e: a lock is exclusive without it"},
      {"run -o -k k true", "-o: not needed"},
      {"run -F -k k true", "-F: rlock has to stay beside the command"},
      {"run --foreground -k k true", "--foreground: not needed"},
      {"run --preserve-status -k k true", "--preserve-status: not needed"},
      {"run deploy ./x", "no --key; did you mean: rlock run -k deploy -- ./x"},
      {"lock acquire k --timeout 3 --lease 1m", "--timeout: did you mean --wait?"},
      {"lock acquire k --ttl 3", "--ttl: did you mean --lease?"},
      {"unlock -f k", "-f: unlock always removes by force; with --yes it does not ask"},
      {"--versoin", "unknown option --versoin; did you mean --version?"},
      {"inspct k", "unknown verb 'inspct'; did you mean: rlock inspect"},
      {"lock aquire k", "unknown verb 'aquire'; did you mean: rlock lock acquire"},
      {"run --wiat 3 -k k true", "unknown option --wiat; did you mean --wait?"},
  };
  for (const auto& [line, answer] : answers) {
    CAPTURE(line);
    Rlock rlock{split(line, ' '), Rlock::clean_environment()};
    CHECK(rlock.exit_code(kDeadline) == 64);
    CHECK(rlock.out().empty());
    CHECK_MESSAGE(contains(rlock.err(), answer), rlock.err());
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
      {run_words({"--lease", "0"}), 64},
      {run_words({"--lease", "1e3"}), 64},
      {run_words({"--wait", "-1"}), 64},
      {run_words({"-E", "256"}), 64},
      {run_words({"--timeout", "3"}), 64},
      {run_words({"-h", "db1"}), 64},
      {run_words({"-a", "CANARY"}), 64},
      {run_words({"--signal", "NOPE"}), 64},
      {run_words({"--type", "sem"}), 64},
      {run_words({"--url", "http://u:CANARY@h"}), 64},
      {run_words({"--status-fd", "99"}), 64},
      {run_words({"--lost-grace", "60s"}), 78},
      {run_words({"--lease", "100ms"}), 78},
      {run_words({"--min-hold", "2m", "--max-hold", "1m"}), 78},
      {run_words({"--config", "/nonexistent"}), 78},
      {run_words({"--config", "/dev/zero"}), 78},
      {{"lock", "acquire", "k"}, 64},
      {{"lock", "release", "k"}, 64},
      {{"lock", "acquire", "k", "--lease", "1m", "--owner", "a b"}, 64},
      {{"unlock"}, 64},
      {{"inspect", ""}, 64},
      {{"inspect", "--jsno"}, 64},
      {{"sem", "init", "k", "-1"}, 64},
      {{"latch", "set", "k", "0"}, 64},
      {{"permit", "release", "k", ""}, 64},
      {{"scripts", "show", "x"}, 64},
      {{"isnpect"}, 64},
      {{"--url", "redis://h", "run"}, 64},
      {{"-h", "db1", "run", "-k", "k", "true"}, 64},
  };
  for (const Bad& bad : catalogue) {
    CAPTURE(joined(bad.words, " ").substr(0, 100));
    Rlock rlock{bad.words, options};
    CHECK(rlock.exit_code(kDeadline) == bad.status);
    CHECK(rlock.out().empty());
    CHECK(rlock.err().starts_with("rlock: "));
    CHECK(split(rlock.err(), '\n').size() == 2);
    CHECK_FALSE(contains(rlock.err(), "CANARY"));
  }
  CHECK(recorder.received().empty());
}
