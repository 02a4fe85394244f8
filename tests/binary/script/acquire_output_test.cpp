// An acquire whose output cannot be printed. The script then knows no owner, so nothing stays acquired.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/event_lines.h"
#include "support/eventually.h"
#include "support/full_pipe.h"
#include "support/lock_verbs.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("a lock is released again if its owner id could not be printed") {
  RedisServer redis;
  for (const bool closed : {true, false}) {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    REQUIRE(full >= 0);
    Process::Options options = redis.environment();
    if (closed) {
      options.closed = {1};
    } else {
      options.descriptors = {{1, full}};
    }
    Rlock acquire{{"lock", "acquire", "deploy", "--lease", "1m"}, options};
    CHECK(acquire.exit_code() == 71);
    CHECK(contains(acquire.err(), "'deploy' was released"));
    CHECK_FALSE(redis.has("deploy"));
    ::close(full);
  }
}

TEST_CASE("nothing is printed and nothing stays held if the keeper cannot be started") {
  if (kSanitized) return skipped("at its end LeakSanitizer needs a process, too");
  RedisServer redis{{.tcp = true}};
  Process::Options options;
  options.env["RLOCK_URL"] = redis.tcp_url();
  options.env["RLOCK"] = for_everybody(redis.directory());
  for (const std::string more : {"", " --json", " --owner me"}) {
    CAPTURE(more);
    Words words;  // a limit of processes does not count for root
    if (::geteuid() == 0) words = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
    words.insert(
        words.end(),
        {"sh", "-c", "prlimit --nproc=1 \"$RLOCK\" lock acquire k --while-pid $$" + more + "; exit $?"});
    Process acquire{words, options};
    CHECK(acquire.exit_code() == 71);
    CHECK(acquire.out().empty());
    CHECK(contains(acquire.err(),
                   "cannot start a process: Resource temporarily unavailable; 'k' was released"));
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("a keeper ends if the owner id could not be printed, and the script goes on without a lock") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK"] = rlock_binary();
  Process script{{"sh", "-c",
                  "\"$RLOCK\" lock acquire k --lease 2s --while-pid $$ >/dev/full; echo $?; "
                  "\"$RLOCK\" lock status k; sleep 2; exit 7"},
                 options};
  REQUIRE(eventually([&] { return contains(script.out(), "71\n"); }, 20s));
  CHECK(eventually([&] { return script.family().size() <= 2; }, 5s));  // sh and sleep
  CHECK(script.exit_code() == 7);
  CHECK_FALSE(redis.has("k"));
  CHECK(contains(script.err(), "write error on stdout: No space left on device; 'k' was released"));
}

TEST_CASE("a signal ends an acquire whose output is a pipe that nobody reads, and nothing stays acquired") {
  const FullPipe nobody;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = nobody.writing();
  TempDir folder;
  Process script{{"sleep", "60"}};
  const std::string keeper = "--while-pid=" + std::to_string(script.pid());
  for (const std::string& kept : {std::string{"--lease=1m"}, keeper})
    for (const int number : {SIGTERM, SIGINT}) {
      CAPTURE(kept);
      CAPTURE(number);
      const std::string events = folder / (kept + std::to_string(number));
      Rlock acquire{{"lock", "acquire", "k", kept, "--events", events}, options};
      REQUIRE(eventually([&] { return contains(read_file(events), "\"acquired\""); }, 20s));
      acquire.signal(number);
      CHECK(acquire.exit_code() == 128 + number);
      CHECK(acquire.err() == "rlock: 'k' was released\n");
      CHECK(contains(read_file(events), "\"outcome\":\"interrupted\""));
      CHECK(contains(read_file(events), "\"event\":\"released\""));
      CHECK_FALSE(redis.has("k"));
    }
  CHECK(script.running());

  CHECK(status_of(redis, {"permit", "init", "seats", "3"}) == 0);
  Rlock permit{{"permit", "acquire", "seats", "--no-lease", "--count", "2"}, options};
  REQUIRE(eventually([&] { return redis.cli({"GET", "seats"}) == "1"; }, 20s));
  permit.signal(SIGTERM);
  CHECK(permit.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"GET", "seats"}) == "3");

  CHECK(status_of(redis, {"sem", "init", "slots", "3"}) == 0);
  Rlock drain{{"sem", "drain", "slots"}, options};
  REQUIRE(eventually([&] { return redis.cli({"GET", "slots"}) == "0"; }, 20s));
  drain.signal(SIGTERM);
  CHECK(drain.exit_code() == 128 + SIGTERM);
  CHECK(redis.cli({"GET", "slots"}) == "3");
}

TEST_CASE("if an acquire is killed while it prints, its keeper gives the lock back") {
  const FullPipe nobody;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = nobody.writing();
  TempDir folder;
  Process script{{"sleep", "60"}};
  const std::string events = folder / "events";
  Rlock acquire{{"lock", "acquire", "k", "--while-pid", std::to_string(script.pid()), "--lease", "1m",
                 "--events", events},
                options};
  REQUIRE(eventually([&] { return acquire.family().size() == 3; }, 20s));  // it, a keeper and a guardian
  REQUIRE(contains(read_file(events), "\"acquired\""));
  acquire.signal(SIGKILL);
  CHECK(acquire.exit_code() == 128 + SIGKILL);
  CHECK(eventually([&] { return !redis.has("k"); }, 20s));
  const auto ended = [&] { return contains(lines_of(events).back(), "\"event\":\"released\""); };
  CHECK(eventually(ended, 20s));
  CHECK(contains(lines_of(events).back(), "\"outcome\":\"killed\""));
  CHECK(script.running());
}

TEST_CASE("of an acquire that could not be printed, each key is told what became of it") {
  RedisServer redis;
  Process::Options options = redis.environment();
  const Descriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
  options.descriptors[STDOUT_FILENO] = full.number();
  TempDir folder;
  const auto why = [&](Words words, const std::string& end) {
    CAPTURE(words);
    const std::string events = folder / "events";
    words.insert(words.end(), {"--owner", "me", "--lease", "1m", "--events", events});
    Rlock acquire{words, options};
    CHECK(acquire.exit_code() == 71);
    CHECK(contains(lines_of(events).back(), "\"event\":\"" + end + "\""));
    return acquire.err();
  };
  for (const char* key : {"a", "b"})
    REQUIRE(status_of(redis, {"lock", "acquire", key, "--owner", "me", "--lease", "1m"}) == 0);
  CHECK(contains(why({"lock", "acquire", "a", "b", "c"}, "released"),
                 "; 'c' was released; 'a', 'b' stay held, as they were before"));
  CHECK(contains(why({"lock", "acquire", "c", "d"}, "released"), "; 'c', 'd' were released"));
  CHECK(contains(why({"lock", "acquire", "a", "--again"}, "released"), "; the new hold of 'a' was released"));
  CHECK(contains(why({"lock", "acquire", "a"}, "ended"), "; 'a' stays held, as it was before"));
  CHECK(redis.cli({"HGET", "a", "me"}) == "1");
}

TEST_CASE(
    "after a signal --export still prints code that fails, so that the script does not go on without the lock") {
  FullPipe shell;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = shell.writing();
  TempDir folder;
  const std::string events = folder / "events";
  Rlock acquire{{"lock", "acquire", "k", "--lease", "1m", "--export", "--events", events}, options};
  REQUIRE(eventually([&] { return contains(read_file(events), "\"acquired\""); }, 20s));
  acquire.signal(SIGTERM);
  CHECK(eventually([&] { return !redis.has("k"); }, 20s));
  CHECK(shell.read_all().ends_with("(exit 143)\n"));
  CHECK(acquire.exit_code() == 143);
}

TEST_CASE(
    "an undo at a frozen server ends soon, at a second signal at once, and the server does it when it wakes up") {
  const FullPipe nobody;
  RedisServer redis;
  Process::Options options = redis.environment();
  options.descriptors[STDOUT_FILENO] = nobody.writing();
  TempDir folder;
  // All keys together get a second, or 6 s if they are 1000.
  for (const auto& [count, deadline] : {std::pair{1, 15s}, {30, 15s}, {1000, 5s}}) {
    CAPTURE(count);
    const std::string events = folder / std::to_string(count);
    Words words{"lock", "acquire", "--lease=10m", "--events", events};
    for (int i = 0; i < count; ++i) words.push_back(std::to_string(count) + "." + std::to_string(i));
    Rlock acquire{words, options};
    REQUIRE(eventually([&] { return contains(read_file(events), "\"acquired\""); }, 60s));
    redis.freeze();
    acquire.signal(SIGTERM);
    if (count > 30) acquire.signal(SIGINT);  // the kernel would merge a second SIGTERM with the first
    CHECK(acquire.exit_code(deadline) > 128);
    const std::string which = count == 1 ? "it" : "each";
    CHECK(contains(acquire.err(), " not confirmed; " + which + " expires within 10m"));
    redis.thaw();
    if (count == 1) CHECK(eventually([&] { return !redis.has(words.back()); }, 20s));
  }
}

TEST_CASE("an acquire that could not be printed reports no release of a key that stays held") {
  RedisServer redis;
  TempDir folder;
  const Words acquire{"lock", "acquire", "k", "--owner", "me", "--lease", "1m"};
  CHECK(status_of(redis, acquire) == 0);
  const Descriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
  Process::Options options = redis.environment();
  options.descriptors = {{STDOUT_FILENO, full.number()}};
  Words reported = acquire;
  reported.insert(reported.end(), {"--events", folder / "events"});
  Rlock again{reported, options};
  CHECK(again.exit_code() == 71);
  CHECK(contains(again.err(), "'k' stays held, as it was before"));
  CHECK(contains(read_file(folder / "events"), "\"event\":\"ended\""));
  CHECK_FALSE(contains(read_file(folder / "events"), "\"event\":\"released\""));
  CHECK(redis.has("k"));
}

TEST_CASE("permits that could not be printed are only called released if the server has said so") {
  RedisServer redis;
  CHECK(status_of(redis, {"permit", "init", "seats", "3"}) == 0);
  CHECK(status_of(redis, {"sem", "init", "slots", "3"}) == 0);
  const auto run = [&](const std::string& line, const std::string& key, const std::string& left) {
    CAPTURE(line);
    FullPipe nobody;
    Process::Options options = redis.environment();
    options.descriptors[STDOUT_FILENO] = nobody.writing();
    const std::string facts = redis.cli({"HLEN", "rlock:meta:{seats}"});
    Rlock rlock{split(line, ' '), options};
    REQUIRE(eventually([&] { return redis.cli({"GET", key}) == left; }, 20s));
    // A server that wakes up reads no more than 16 KiB from a client that is gone. So the metadata must not come, too.
    if (key == "seats")
      REQUIRE(eventually([&] { return redis.cli({"HLEN", "rlock:meta:{seats}"}) != facts; }, 20s));
    REQUIRE(redis.cli({"PING"}) == "PONG");  // the answer of the turn before has left the server
    redis.freeze();
    nobody.close_reader();
    CHECK(rlock.exit_code(20s) == 71);
    redis.thaw();
    CHECK(contains(rlock.err(), "write error on stdout: Broken pipe\n"));
    CHECK_FALSE(contains(rlock.err(), "released"));
    CHECK(eventually([&] { return redis.cli({"GET", key}) == "3"; },
                     20s));  // the server reads it when it wakes up
    return rlock.err();
  };
  CHECK(contains(run("permit acquire seats --lease 10m --count 2", "seats", "1"),
                 "release of permits of 'seats' not confirmed; each expires within 10m"));
  CHECK(contains(run("permit acquire seats --no-lease", "seats", "2"), "; see their ids: rlock inspect -v"));
  CHECK(contains(run("sem drain slots", "slots", "0"),
                 "release of permits of 'slots' not confirmed (no answer within 1s); see: rlock sem status"));
}

TEST_CASE("an event that fits into its file only in part is said to be lost") {
  RedisServer redis;
  TempDir folder;
  write_file(folder / "events", std::string(480, 'x'));
  Process acquire{
      {"sh", "-c", "ulimit -f 1; exec \"$0\" lock acquire k --lease 1m --events " + (folder / "events"),
       rlock_binary()},
      redis.environment()};
  CHECK(acquire.exit_code() == 0);
  CHECK_MESSAGE(contains(acquire.err(), "rlock: --events: an event is lost: "), acquire.err());
}
