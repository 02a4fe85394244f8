// --events: the run's events, line by line; and no reader of the file can hold up the run.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <list>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "support/contains.h"
#include "support/event_lines.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/state_home.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("a waiting run reports the holder and its place, then the lock, then the end") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  Rlock holder = redis.rlock("run", "-q", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{k}"); }));
  Rlock run = redis.rlock("run", "-q", "--events", file, "-k", "k", "--", "true");
  REQUIRE(eventually([&] { return events_in(file) == "waiting"; }, 10s));
  CHECK(field(lines_of(file).front(), "holder") == "\"" + redis.cli({"HKEYS", "k"}) + "\"");
  CHECK(field(lines_of(file).front(), "place") == "1");

  holder.signal(SIGTERM);
  CHECK(run.exit_code(20s) == 0);

  CHECK(events_in(file) == "waiting acquired released");
  for (const std::string& line : lines_of(file)) {
    CHECK(line.starts_with("{\"v\":1,\"event\":\""));
    CHECK(field(line, "key") == "\"k\"");
    CHECK(field(line, "at").size() == 13);
  }
  CHECK(field(lines_of(file).back(), "outcome") == "\"ran\"");
  CHECK(status_of(redis, {"run", "-q", "--events", file, "-k", "a", "-k", "b", "--", "false"}) == 1);
  CHECK(events_in(file) == "waiting acquired released acquired released");
  CHECK(contains(lines_of(file).back(), "\"keys\":[\"a\",\"b\"]"));
  CHECK(field(lines_of(file).back(), "exit") == "1");
}

TEST_CASE("a wait behind a holder that nobody can name is one event, however often rlock asks") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  REQUIRE(redis.cli({"SET", "k", "somebody", "PX", "60000"}) == "OK");
  CHECK(status_of(redis, {"run", "-q", "-w", "2s", "--type", "plain", "--events", file, "-k", "k", "--",
                          "true"}) == 75);
  CHECK(events_in(file) == "waiting gave-up");
}

namespace {

/// Two sockets that are connected. No process inherits them.
struct SocketPair {
  Descriptor ours, theirs;

  SocketPair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
  }
};

}  // namespace

TEST_CASE("the end of a socket for events comes with the end of rlock, not with that of its undo") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"lock", "acquire", "k", "--lease", "1m"}) == 0);
  SocketPair pair;
  Process::Options options = redis.environment();
  options.descriptors[7] = pair.theirs.number();
  Rlock run{{"run", "-q", "-w", "5s", "--events", "7", "-k", "k", "--", "true"}, options};
  pair.theirs.reset();
  char text[4096];
  const auto waits = [&] { return ::recv(pair.ours.number(), text, sizeof text, MSG_DONTWAIT) > 0; };
  REQUIRE(eventually(waits, 20s));
  redis.freeze();
  const int exit = run.exit_code(20s);
  CHECK_MESSAGE((exit == 75 || exit == 69), exit);  // the wait may end while a round is under way

  const auto ended = [&] { return ::recv(pair.ours.number(), text, sizeof text, MSG_DONTWAIT) == 0; };
  CHECK(eventually(ended, 5s));
  redis.thaw();
}

TEST_CASE("the end of a socket for the status comes with the end of rlock, too") {
  RedisServer redis;
  TempDir folder;
  REQUIRE(status_of(redis, {"lock", "acquire", "k", "--lease", "1m"}) == 0);
  SocketPair pair;
  Process::Options options = redis.environment();
  options.descriptors[7] = pair.theirs.number();
  const std::string events = folder / "events";
  Rlock run{{"run", "-q", "-w", "5s", "--events", events, "--status-fd", "7", "-k", "k", "--", "true"},
            options};
  pair.theirs.reset();
  REQUIRE(eventually([&] { return contains(read_file(events), "\"waiting\""); }, 20s));
  redis.freeze();
  const int exit = run.exit_code(20s);
  CHECK_MESSAGE((exit == 75 || exit == 69), exit);

  const auto ended = [&] {
    char text[4096];
    ssize_t got = 0;
    while ((got = ::recv(pair.ours.number(), text, sizeof text, MSG_DONTWAIT)) > 0) {}
    return got == 0;
  };
  CHECK(eventually(ended, 5s));
  redis.thaw();
}

TEST_CASE("a run that gives up tells why") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  REQUIRE(status_of(redis, {"lock", "acquire", "k", "--lease", "1m"}) == 0);
  CHECK(status_of(redis, {"run", "-q", "-n", "--events", file, "-k", "k", "--", "true"}) == 75);
  CHECK(field(lines_of(file).back(), "event") == "\"gave-up\"");
  CHECK(field(lines_of(file).back(), "outcome") == "\"busy\"");
  redis.kill();
  CHECK(status_of(redis, {"run", "-q", "--events", file, "-k", "k", "--", "true"}) == 69);
  CHECK(field(lines_of(file).back(), "event") == "\"gave-up\"");
  CHECK(field(lines_of(file).back(), "exit") == "69");
}

TEST_CASE(
    "trouble and recovery of renewals are reported once each, and so is a loss with the stop after it") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  Rlock run = redis.rlock("run", "-q", "--events", file, "--lease", "6s", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return events_in(file) == "acquired"; }, 10s));
  redis.freeze();
  REQUIRE(eventually([&] { return events_in(file) == "acquired trouble"; }, 10s));
  redis.thaw();
  REQUIRE(eventually([&] { return events_in(file) == "acquired trouble recovered"; }, 10s));
  redis.del("k");

  CHECK(run.exit_code(20s) == 125);
  CHECK(events_in(file) == "acquired trouble recovered lost stopping ended");
  CHECK(field(lines_of(file).back(), "outcome") == "\"lost\"");
  CHECK(field(lines_of(file).back(), "exit") == "125");
}

TEST_CASE("a server that dies in the wait and comes back is trouble and recovery, in this order") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  REQUIRE(status_of(redis, {"lock", "acquire", "k", "--lease", "1m"}) == 0);
  Rlock run = redis.rlock("run", "-q", "-w", "1m", "--events", file, "-k", "k", "--", "true");
  REQUIRE(eventually([&] { return events_in(file) == "waiting"; }, 10s));
  redis.kill();
  REQUIRE(eventually([&] { return events_in(file) == "waiting trouble"; }, 20s));
  redis.restart();  // without the lock
  CHECK(run.exit_code(30s) == 0);
  CHECK(events_in(file) == "waiting trouble recovered acquired released");
}

TEST_CASE("a wait reports trouble when its first line about it is due, even with -q, and then its end") {
  RedisServer redis;
  TempDir folder;
  redis.freeze();
  std::list<Rlock> runs;
  for (const std::string verbosity : {"-q", ""}) {
    Words words{"run",           "-w", "1m",  "--events", folder / ("events" + verbosity), "-k",
                "k" + verbosity, "--", "true"};
    if (!verbosity.empty()) words.insert(words.begin() + 1, verbosity);
    runs.emplace_back(words, redis.environment());
  }
  REQUIRE(eventually([&] { return contains(runs.back().err(), "; retrying\n"); }, 20s));
  CHECK(events_in(folder / "events") == "trouble");
  REQUIRE(eventually([&] { return events_in(folder / "events-q") == "trouble"; }, 20s));
  for (const char* file : {"events", "events-q"})  // the reason is the silence, not the failed attempt
    CHECK(contains(field(lines_of(folder / file).front(), "why"), "no answer for "));
  redis.thaw();
  for (Rlock& run : runs) CHECK(run.exit_code(30s) == 0);
  CHECK(runs.front().err().empty());
  for (const char* file : {"events", "events-q"})
    CHECK(events_in(folder / file) == "trouble recovered acquired released");
}

TEST_CASE("with -n nothing is retried, so no line says so") {
  RedisServer redis;
  redis.freeze();
  Rlock run = redis.rlock("run", "-n", "-k", "k", "--", "true");
  CHECK(run.exit_code(20s) == 69);
  CHECK(contains(run.err(), "rlock: waiting for redis at "));
  CHECK_FALSE(contains(run.err(), "retrying"));
  redis.thaw();
}

TEST_CASE("a loss that is only noticed at the release stands before the end") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  CHECK(status_of(redis, {"run", "-q", "--events", file, "-k", "k", "--", "redis-cli", "-s",
                          redis.url().substr(std::string{"unix://"}.size()), "del", "k"}) == 125);
  CHECK(events_in(file) == "acquired lost ended");
}

TEST_CASE("if a command runs without a lock, gave-up reports that before it runs, and ended afterwards") {
  TempDir folder;
  const std::string file = folder / "events";
  Rlock run{{"run", "-q", "-u", "redis://127.0.0.1:1", "--if-unreachable", "run", "--max-hold", "200ms",
             "--events", file, "-k", "k", "--", "sleep", "60"}};
  CHECK(run.exit_code() == 124);
  CHECK(events_in(file) == "gave-up stopping ended");
  CHECK(field(lines_of(file).front(), "exit") == "null");
  CHECK(field(lines_of(file).back(), "exit") == "124");
}

TEST_CASE("flock writes events, too, and a missing command gives up") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  CHECK(status_of(redis, {"flock", "--events", file, "k", "true"}) == 0);
  CHECK(status_of(redis, {"flock", "--events", file, "k", "no-such-command"}) == 69);
  CHECK(status_of(redis, {"run", "--events", file, "-k", "k", "no-such-command"}) == 127);
  CHECK(events_in(file) == "acquired released gave-up gave-up");
  CHECK(status_of(redis, {"flock", "--events", file, "k", folder / "no-such-command"}) == 69);
  CHECK(field(lines_of(file).back(), "exit") == "69");
}

TEST_CASE("in a file that the command also writes, no line overwrites another") {
  RedisServer redis;
  TempDir folder;
  Process shell{{"sh", "-c",
                 rlock_binary() + " run -q --events 1 -k k -- sh -c 'echo one; echo two' >" + folder / "log"},
                redis.environment()};
  CHECK(shell.exit_code() == 0);
  const std::vector<std::string> lines = lines_of(folder / "log");
  REQUIRE(lines.size() == 4);
  CHECK(field(lines[0], "event") == "\"acquired\"");
  CHECK(lines[1] == "one");
  CHECK(lines[2] == "two");
  CHECK(field(lines[3], "event") == "\"released\"");
}

TEST_CASE("a command that is stopped by rlock stop or --max-hold has its events") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  CHECK(status_of(redis, {"run", "-q", "--events", file, "--max-hold", "200ms", "-k", "k", "--", "sleep",
                          "60"}) == 124);
  CHECK(events_in(file) == "acquired stopping released");
  CHECK(field(lines_of(file)[1], "why") == "\"--max-hold is over\"");
}

TEST_CASE("an open descriptor is written to, and the command does not inherit it") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  Process run{
      {"sh", "-c", rlock_binary() + " run -q --events 7 -k k -- sh -c '[ ! -e /proc/self/fd/7 ]' 7>>" + file},
      redis.environment()};
  CHECK(run.exit_code() == 0);
  CHECK(events_in(file) == "acquired released");
}

TEST_CASE("a full, slow or missing reader delays nothing, and learns how much it has missed") {
  RedisServer redis;
  TempDir folder;
  UnreadPipe pipe{folder / "pipe"};
  pipe.fill();
  // The command empties the pipe, so that the last line finds room again.
  CHECK(status_of(redis,
                  {"run", "-q", "--events", pipe.path(), "-k", "k", "--", "sh", "-c",
                   "dd if=" + pipe.path() + " iflag=nonblock bs=4096 of=/dev/null 2>/dev/null; true"}) == 0);
  Process rest{{"sh", "-c", "dd if=" + pipe.path() + " iflag=nonblock bs=4096 2>/dev/null"}};
  rest.exit_code();
  CHECK_MESSAGE(field(rest.out(), "event") == "\"released\"", rest.out());
  CHECK(field(rest.out(), "dropped") == "1");

  CHECK(status_of(redis, {"run", "-q", "--events", "/dev/full", "-k", "k", "--", "true"}) == 0);
  Process gone{
      {"sh", "-c", "(" + rlock_binary() + " run -q --events 1 -k k -- sleep 0.3; echo $? >&2) | true"},
      redis.environment()};
  gone.exit_code();
  CHECK(gone.err() == "0\n");
}

TEST_CASE("a pipe without a reader gets no lines until one comes, and does not hinder the run") {
  RedisServer redis;
  TempDir folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  Rlock unread = redis.rlock("run", "-q", "--events", pipe, "-k", "k", "--", "true");
  CHECK(unread.exit_code() == 0);
  CHECK(unread.err().empty());

  Rlock run =
      redis.rlock("run", "-q", "--events", pipe, "-k", "k", "--", "sh", "-c",
                  ": >" + folder / "begun" + "; until [ -e " + folder / "go" + " ]; do sleep 0.05; done");
  REQUIRE(eventually([&] { return std::filesystem::exists(folder / "begun"); }));
  const Descriptor reader{::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  write_file(folder / "go", "");
  CHECK(run.exit_code() == 0);
  std::string line(4096, '\0');
  line.resize(
      static_cast<std::size_t>(std::max<ssize_t>(0, ::read(reader.number(), line.data(), line.size()))));
  CHECK_MESSAGE(field(line, "event") == "\"released\"", line);
  CHECK(field(line, "dropped") == "1");

  Process late{{"sh", "-c",
                "{ sleep 0.3; " + rlock_binary() + " run -q --events 1 -k k -- true; echo $? >&2; } | true"},
               redis.environment()};
  late.exit_code();
  CHECK(late.err() == "0\n");
}

TEST_CASE("a descriptor that is not open is refused also if rlock itself opens that number") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.closed = {3, 4, 5, 6, 7, 8};  // the test may have inherited them
  for (int number = 3; number < 9; ++number) {
    Rlock acquire{{"lock", "acquire", "k", "--lease", "1m", "--events", std::to_string(number)}, options};
    CHECK(acquire.exit_code() == 64);
    CHECK(contains(acquire.err(), "descriptor " + std::to_string(number) + " is not open"));
  }
}

TEST_CASE("a standard descriptor that was closed at the start is not open, although rlock fills its number") {
  RedisServer redis;
  TempDir folder;
  for (const int number : {0, 1, 2}) {
    Process::Options options = redis.environment();
    options.closed = {number};
    const std::string fd = std::to_string(number);
    const auto status = [&](const Words& words) {
      CAPTURE(words.back());
      Rlock rlock{words, options};
      const int exit = rlock.exit_code();
      if (number != 2)
        CHECK_MESSAGE(
            contains(rlock.err(), exit == 71 ? "Bad file descriptor" : "descriptor " + fd + " is not open"),
            rlock.err());
      return exit;
    };
    const std::string ran = folder / "ran";
    CHECK(status({"run", "--events", fd, "-k", "k", "--", "touch", ran}) == 64);
    CHECK(status({"run", "--status-fd", fd, "-k", "k", "--", "touch", ran}) == 64);
    CHECK(status({"run", "--status-file", "/dev/fd/" + fd, "-k", "k", "--", "touch", ran}) == 71);
    CHECK(status({"lock", "acquire", "--lease", "1m", "--events", fd, "k"}) == 64);
    CHECK_FALSE(std::filesystem::exists(ran));
  }
  CHECK(redis.keys().empty());
}

TEST_CASE("a full disk under the events is said once, and does not hinder the run") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "--events", "/dev/full", "-k", "k", "--", "true");
  CHECK(run.exit_code() == 0);
  CHECK(run.err() == "rlock: --events: an event is lost: No space left on device\n");
}

TEST_CASE("an unwritable events file is reported before anything is sent") {
  RedisServer redis;
  TempDir folder;
  const auto refused = [&](const std::string& where, int status, const std::string& said) {
    CAPTURE(where);
    Rlock run = redis.rlock("run", "--events", where, "-k", "k", "--", "touch", folder / "ran");
    CHECK(run.exit_code() == status);
    CHECK_MESSAGE(contains(run.err(), said), run.err());
  };
  refused("77", 64, "--events: descriptor 77 is not open");
  refused("0", 64, "--events: descriptor 0 is not open for writing");
  refused(folder / "no/such", 71, "No such file or directory");
  refused(folder.path(), 71, "Is a directory");
  CHECK_FALSE(std::filesystem::exists(folder / "ran"));
  CHECK_FALSE(redis.has("rlock:history:{k}"));
}

TEST_CASE("a number is a descriptor, also one that cannot be open, and never the name of a file") {
  RedisServer redis;
  TempDir folder;
  Process::Options options = redis.environment();
  options.directory = folder.path();
  for (const std::string number : {"-1", "+1", "-0", "2147483648", "99999999999", "99999999999999999999"}) {
    CAPTURE(number);
    for (const Words& words : {Words{"run", "--events=" + number, "-k", "k", "--", "true"},
                               Words{"lock", "acquire", "--lease", "1m", "--events=" + number, "k"}}) {
      Rlock rlock{words, options};
      CHECK(rlock.exit_code() == 64);
      CHECK_MESSAGE(contains(rlock.err(), "--events: descriptor " + number + " is not open; ./" + number +
                                              " names a file"),
                    rlock.err());
    }
    CHECK_FALSE(std::filesystem::exists(folder / number));
  }
  CHECK(redis.keys().empty());
  for (const std::string file : {"./-1", "./2", "1.5", "./-", "1a"}) {
    CAPTURE(file);
    Rlock run{{"run", "-q", "--events=" + file, "-k", "k", "--", "true"}, options};
    CHECK_MESSAGE(run.exit_code() == 0, run.err());
    CHECK(events_in(folder / file) == "acquired released");
  }
}

TEST_CASE("- is no file, and rlock names the option for the standard output") {
  RedisServer redis;
  TempDir folder;
  Process::Options options = redis.environment();
  options.directory = folder.path();
  Rlock events{{"run", "--events", "-", "-k", "k", "--", "true"}, options};
  CHECK(events.exit_code() == 64);
  CHECK(events.err() == "rlock: --events: expected a file or an open descriptor, as in --events 1\n");
  Rlock status{{"run", "--status-file", "-", "-k", "k", "--", "true"}, options};
  CHECK(status.exit_code() == 64);
  CHECK(status.err() ==
        "rlock: --status-file: expected the name of a file; for the standard output: --status-fd 1\n");
  CHECK_FALSE(std::filesystem::exists(folder / "-"));
  CHECK(redis.keys().empty());
}

TEST_CASE("one file for the events and the status is refused, because the status would replace the events") {
  RedisServer redis;
  TempDir folder;
  write_file(folder / "f", "events\n");
  REQUIRE(::symlink((folder / "f").c_str(), (folder / "link").c_str()) == 0);
  for (const std::string& events : std::vector{folder / "f", folder / "./f", folder / "link"}) {
    CAPTURE(events);
    Rlock run =
        redis.rlock("run", "-k", "k", "--events", events, "--status-file", folder / "f", "--", "echo", "ran");
    CHECK(run.exit_code() == 64);
    CHECK_MESSAGE(contains(run.err(), "name one file: the status would replace the events"), run.err());
    CHECK(run.out().empty());
    CHECK(read_file(folder / "f") == "events\n");
  }
  Rlock run =
      redis.rlock("run", "-k", "k", "--events", "/dev/stderr", "--status-file", "/dev/stderr", "--", "true");
  CHECK(run.exit_code() == 0);
  CHECK(contains(run.err(), "\"outcome\":"));
}
