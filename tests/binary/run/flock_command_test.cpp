// rlock flock beside flock(1): the same words lead to the same answers.

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <csignal>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// Runs flock(1) and `rlock flock` on the same file name, in a folder of its own.
class Both {
 public:
  Both() : file_(folder_ / "lock") {}

  /// The exit status of both, which must be the same. FILE in `words` becomes the file's name.
  int status(Words words) {
    const int theirs = start(words, false).exit_code();
    const int ours = start(words, true).exit_code();
    CAPTURE(words.front());
    CHECK(ours == theirs);
    return ours;
  }

  Process start(Words words, bool ours) {
    for (std::string& word : words)
      if (word == "FILE") word = file_;
    if (ours) {
      words.insert(words.begin(), {rlock_binary(), "flock"});
    } else {
      words.insert(words.begin(), "flock");
    }
    Process::Options options = redis_.environment();
    options.env["SHELL"] = "/bin/sh";
    return Process{words, options};
  }

  /// Two holders, one of each program.
  struct Holders {
    Process theirs, ours;
  };
  Holders hold(const std::string& mode) {
    Holders holders{start({mode, "FILE", "sleep", "60"}, false), start({mode, "FILE", "sleep", "60"}, true)};
    REQUIRE(eventually([&] { return redis_.has(file_); }, 10s));
    REQUIRE(eventually([&] { return start({"-n", "-x", "FILE", "true"}, false).exit_code() == 1; }, 10s));
    return holders;
  }

  const std::string& file() const { return file_; }
  RedisServer& redis() { return redis_; }

 private:
  RedisServer redis_;
  TempDir folder_;
  std::string file_;
};

}  // namespace

TEST_CASE("if a signal ends the command, rlock flock exits with 128 and its number, as flock(1) does") {
  RedisServer redis;
  Rlock killed{{"flock", "FILE", "sh", "-c", "kill -KILL $$"}, redis.environment()};
  const int status = killed.wait_status();
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + SIGKILL);
}

TEST_CASE("flock: the command's exit status and its words are the same, also with -c") {
  Both both;
  CHECK(both.status({"FILE", "true"}) == 0);
  CHECK(both.status({"FILE", "sh", "-c", "exit 42"}) == 42);
  CHECK(both.status({"FILE", "-c", "exit 43"}) == 43);
  CHECK(both.status({"FILE", "--command", "exit 44"}) == 44);
  CHECK(both.status({"-x", "FILE", "test", "a b", "=", "a b"}) == 0);
  CHECK(both.status({"FILE", "sh", "-c", "kill -TERM $$"}) == 128 + SIGTERM);
  CHECK(both.status({"FILE", "/nonexistent/command"}) == 69);
  TempDir folder;
  write_file(folder / "no_first_line", "exit $1\n");
  ::chmod((folder / "no_first_line").c_str(), 0755);
  CHECK(both.status({"FILE", folder / "no_first_line", "45"}) == 45);
  CHECK(both.status({"FILE", "no-such-command-anywhere"}) == 69);
  for (const char* option : {"-o", "--close", "-F", "--no-fork", "-e", "-s", "--shared", "--exclusive"})
    CHECK(both.status({option, "FILE", "true"}) == 0);
  CHECK_FALSE(both.redis().has(both.file()));
}

TEST_CASE("flock: a shared lock beside shared ones, not beside an exclusive one") {
  Both both;
  CHECK(both.status({"-s", "FILE", "true"}) == 0);
  const auto holders = both.hold("--shared");
  CHECK(both.status({"-ns", "FILE", "true"}) == 0);
  CHECK(both.status({"--nonblock", "--shared", "FILE", "true"}) == 0);
  CHECK(both.status({"-nx", "FILE", "true"}) == 1);
  CHECK(both.status({"-n", "FILE", "true"}) == 1);
}

TEST_CASE("flock: nothing beside an exclusive lock") {
  Both both;
  const auto holders = both.hold("--exclusive");
  CHECK(both.status({"-ns", "FILE", "true"}) == 1);
  CHECK(both.status({"--nb", "-e", "FILE", "true"}) == 1);
}

TEST_CASE("flock: non-block, conflict code and timeout") {
  Both both;
  const auto holders = both.hold("-x");
  CHECK(both.status({"-n", "FILE", "true"}) == 1);
  CHECK(both.status({"-n", "-E", "123", "FILE", "true"}) == 123);
  CHECK(both.status({"-n", "--conflict-exit-code", "0", "FILE", "true"}) == 0);
  CHECK(both.status({"-w", "0.3", "FILE", "true"}) == 1);
  CHECK(both.status({"--timeout", "0.3", "-E", "7", "FILE", "true"}) == 7);
  CHECK(both.status({"--wait=0", "FILE", "true"}) == 1);
  Process waiter = both.start({"-w", "0.3", "FILE", "true"}, true);
  CHECK(waiter.exit_code() == 1);
  CHECK(waiter.err().empty());
  Process told = both.start({"--verbose", "-n", "FILE", "true"}, true);
  CHECK(told.exit_code() == 1);
  CHECK(contains(told.err(), "is held by"));
}

TEST_CASE("flock: wrong usage is 64 for both") {
  Both both;
  for (const Words& words :
       {Words{}, Words{"-n"}, Words{"-E", "256", "FILE", "true"}, Words{"-w", "soon", "FILE", "true"},
        Words{"FILE", "-c"}, Words{"FILE", "-c", "a", "b"}, Words{"-o", "-F", "FILE", "true"},
        Words{"--nonsense", "FILE", "true"}}) {
    Words copy = words;
    CAPTURE(words.size());
    CHECK(both.start(copy, false).exit_code() == 64);
    CHECK(both.start(copy, true).exit_code() == 64);
  }
}

TEST_CASE("flock: features of a single host are refused, with an alternative") {
  RedisServer redis;
  for (const Words& words :
       {Words{"flock", "9"}, Words{"flock", "-n", "9"}, Words{"flock", "-u", "9"},
        Words{"flock", "-u", "/some/file", "true"}, Words{"flock", "--unlock", "/some/file", "true"}}) {
    Rlock refused{words, redis.environment()};
    CHECK(refused.exit_code() == 64);
    CHECK(contains(refused.err(), "rlock lock acquire KEY"));
  }
}

TEST_CASE("FILE is the key as it was typed: run and flock exclude each other") {
  RedisServer redis;
  Rlock holder = redis.rlock("run", "-x", "-k", "/srv/data", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("/srv/data"); }, 10s));
  CHECK(status_of(redis, {"flock", "-n", "/srv/data", "true"}) == 1);
  CHECK(status_of(redis, {"flock", "-sn", "/srv/data", "true"}) == 1);
  holder.signal(SIGTERM);
}
