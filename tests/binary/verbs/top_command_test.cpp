// rlock top on a pseudo-terminal: the list of keys, strokes, the terminal's size, signals, and a server that
// disappears and returns.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "base/descriptor.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const std::string kEnter = "\x1b[?1049h";
const std::string kLeave = "\x1b[?1049l";

Process::Options environment(const RedisServer& redis) {
  Process::Options options = redis.environment();
  options.env["LC_ALL"] = "C.UTF-8";
  return options;
}

void acquire_key(const RedisServer& redis, const std::string& key) {
  Rlock acquire{{"lock", "acquire", key, "--lease", "10m"}, redis.environment()};
  REQUIRE(acquire.exit_code(kDeadline) == 0);
}

Words top(Words more = {}) {
  // By default the terminal of a test is dumb.
  more.insert(more.begin(), {"env", "TERM=xterm", rlock_binary(), "top", "--every", "100ms"});
  return more;
}

/// The output of stty for the terminal of a process.
std::string stty(pid_t pid, const std::string& words) {
  const std::string tty = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/0");
  return output_of({"sh", "-c", "stty -F " + tty + " " + words});
}

}  // namespace

TEST_CASE("top shows keys, live, and q puts the terminal back") {
  RedisServer redis;
  acquire_key(redis, "deploy");
  Pty terminal{top(), environment(redis)};
  terminal.expect(kEnter);
  terminal.expect("1 key, 1 held");
  terminal.expect("deploy");
  acquire_key(redis, "report");
  terminal.expect("2 keys, 2 held");
  terminal.expect("report");
  redis.del("report");
  redis.del("rlock:meta:{report}");
  terminal.expect("1 key, 1 held");
  terminal.type("?");
  terminal.expect("sort by key, age (oldest first)");
  terminal.type("q");
  terminal.expect("1 key,");
  terminal.type("\r");
  terminal.expect("no process renews it");
  terminal.type("\x1b");
  terminal.type("s");
  terminal.expect("sorted by age");
  terminal.type("q");
  terminal.expect(kLeave);
  CHECK(terminal.exit_code(kDeadline) == 0);
}

TEST_CASE("/ filters while top runs; --state, --type and --sort do at its start") {
  RedisServer redis;
  for (const char* key : {"deploy:api", "deploy:web", "build"}) acquire_key(redis, key);
  {
    Pty terminal{top(), environment(redis)};
    terminal.expect("3 keys, 3 held");
    terminal.type("/web");
    terminal.expect("1 of 3 keys match web");
    terminal.expect("/web_");
    terminal.type("\r");
    terminal.expect("q quit");
    acquire_key(redis, "web:2");
    terminal.expect("2 of 4 keys match web");
    terminal.type("\x1b");
    terminal.expect("4 keys, 4 held");
    terminal.type("q");
    CHECK(terminal.exit_code(kDeadline) == 0);
  }
  Rlock reading{{"lock", "acquire", "shared", "-s", "--lease", "10m"}, redis.environment()};
  REQUIRE(reading.exit_code(kDeadline) == 0);
  Pty terminal{top({"--type", "read-write", "--sort", "age"}), environment(redis)};
  terminal.expect("1 of 5 keys, 1 held");
  terminal.expect("sorted by age");
  terminal.type("q");
  CHECK(terminal.exit_code(kDeadline) == 0);
  Pty none{top({"--state", "free"}), environment(redis)};
  none.expect("0 of 5 keys");
  none.type("q");
  CHECK(none.exit_code(kDeadline) == 0);
}

TEST_CASE("top draws for the size that its terminal has, and for the next one") {
  RedisServer redis;
  for (int i = 0; i < 40; ++i) acquire_key(redis, "key-" + std::to_string(100 + i));
  Words line{"sh", "-c", "stty cols 80 rows 24; exec \"$@\"", "sh"};
  for (const std::string& word : top()) line.push_back(word);
  Pty terminal{line, environment(redis)};
  terminal.expect("key-119");
  terminal.expect("q quit");
  CHECK_FALSE(contains(terminal.screen(), "key-120"));
  stty(terminal.pid(), "cols 200 rows 60");
  terminal.expect("key-139");
  terminal.type("q");
  CHECK(terminal.exit_code(kDeadline) == 0);
}

TEST_CASE("a signal that ends or stops top leaves the terminal as it was before") {
  RedisServer redis;
  acquire_key(redis, "deploy");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    CAPTURE(signal);
    Pty terminal{top(), environment(redis)};
    terminal.expect("deploy");
    ::kill(terminal.pid(), signal);
    terminal.expect(kLeave);
    CHECK(terminal.exit_code(kDeadline) == 128 + signal);
  }
}

TEST_CASE("a signal that comes before top draws ends it at once") {
  RedisServer redis;
  const TempDir folder;
  const std::string fifo = folder / "password";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const Descriptor writer{::open(fifo.c_str(), O_RDWR | O_CLOEXEC)};
  Pty terminal{top({"--every", "1m", "--password-file", fifo}), environment(redis)};
  terminal.expect("waiting for the password");
  ::kill(terminal.pid(), SIGTERM);
  CHECK(terminal.exit_code(std::chrono::seconds{10}) == 128 + SIGTERM);
}

TEST_CASE("^Z gives the terminal back to the shell, and fg draws again") {
  RedisServer redis;
  acquire_key(redis, "deploy");
  Process::Options options = environment(redis);
  Pty shell{{"bash", "--norc", "-i"}, options};
  shell.expect("$ ");
  shell.type("TERM=xterm " + rlock_binary() + " top --every 100ms\r");
  shell.expect("deploy");
  shell.type(Pty::kSuspend);
  shell.expect(kLeave);
  shell.expect("$ ");
  shell.type("stty -a | grep -c ' echo '\r");
  shell.expect("1\r\n");
  shell.type("fg\r");
  shell.expect(kEnter);
  shell.expect("deploy");
  shell.type("q");
  shell.expect(kLeave);
  shell.expect("$ ");
  shell.type("exit\r");
  CHECK(shell.exit_code(kDeadline) == 0);
}

TEST_CASE("top says that its server has gone, answers keys meanwhile, and goes on when it is back") {
  RedisServer redis;
  acquire_key(redis, "deploy");
  Pty terminal{top(), environment(redis)};
  terminal.expect("deploy");
  redis.kill();
  terminal.expect("cannot use redis at");
  terminal.type("s");
  terminal.expect("sorted by age");
  redis.restart();
  acquire_key(redis, "again");
  terminal.expect("again");
  terminal.type("q");
  CHECK(terminal.exit_code(kDeadline) == 0);
}

TEST_CASE("a frozen server does not keep top from its end") {
  RedisServer redis;
  acquire_key(redis, "deploy");
  Pty terminal{top({"--command-timeout", "60s"}), environment(redis)};
  terminal.expect("deploy");
  redis.freeze();
  terminal.type("s");
  terminal.expect("sorted by age");
  terminal.type("q");
  CHECK(terminal.exit_code(std::chrono::seconds{10}) == 0);
  redis.thaw();
}

TEST_CASE("without a terminal that can be drawn on top is a usage error that names rlock list") {
  RedisServer redis;
  Rlock piped{{"top"}, redis.environment()};
  CHECK(piped.exit_code(kDeadline) == 64);
  CHECK(piped.err() == "rlock: this is no terminal; use rlock list\n");
  Process::Options options = environment(redis);
  Pty dumb{{rlock_binary(), "top"}, options};
  CHECK(dumb.exit_code(kDeadline) == 64);
  CHECK(contains(dumb.screen(), "(TERM is dumb); use rlock list"));
  CHECK_FALSE(contains(dumb.screen(), "\x1b"));
  Pty unset{{"env", "-u", "TERM", rlock_binary(), "top"}, options};
  CHECK(unset.exit_code(kDeadline) == 64);
  CHECK(contains(unset.screen(), "(TERM is not set); use rlock list"));
}

TEST_CASE("without UTF-8 on the terminal top sends none, and never a byte that a terminal obeys") {
  RedisServer redis;
  acquire_key(redis, "d\xc3\xa9ploy");
  redis.cli({"HSET", "rlock:meta:{k\x1b[2J}", "o:1", "{}"});
  Process::Options options = environment(redis);
  options.env["LC_ALL"] = "C";
  Pty terminal{top(), options};
  terminal.expect("d?ploy");
  terminal.expect("k\\x1b[2J");
  CHECK_FALSE(contains(terminal.screen(), "\xc3\xa9"));
  CHECK_FALSE(contains(terminal.screen(), "\x1b[2J"));
  terminal.type("q");
  CHECK(terminal.exit_code(kDeadline) == 0);
}
