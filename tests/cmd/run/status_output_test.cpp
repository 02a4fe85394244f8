#include "cmd/run/status_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "cmd/cli/json.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

HoldReport sample() {
  return {.outcome = HoldOutcome::ran,
          .exit = 0,
          .command_exit = 0,
          .locked = true,
          .keys = {LockName{"k"}},
          .type = "lock",
          .owner = Owner{"me:1"},
          .waited = Milliseconds{0},
          .held = Milliseconds{12},
          .released = HoldReport::KeysEnd::yes};
}

}  // namespace

TEST_CASE("JSON renders values in the order in which they were added") {
  CHECK(Json::object({}).str() == "{}");
  CHECK(Json::object({{"b", 1}, {"a", nullptr}, {"c", true}, {"d", "x"}, {"e", Milliseconds{-5}}}).str() ==
        R"({"b":1,"a":null,"c":true,"d":"x","e":-5})");
  CHECK(Json::array({1, "two", Json{}}).str() == R"([1,"two",null])");
  CHECK(Json::list(std::vector<std::string>{"a", "b"}).str() == R"(["a","b"])");
  CHECK(Json{std::optional<int>{}}.str() == "null");
  CHECK(Json{std::optional{3}}.str() == "3");
}

TEST_CASE("JSON holds nothing that a terminal would obey, and loses nothing that is text") {
  CHECK(Json{"\"\\\n\x1b\x7f"}.str() == "\"\\\"\\\\\\n\\u001b\\u007f\"");
  CHECK(Json{"gr\xC3\xBC\xC3\x9F \xE2\x80\xAE \xF0\x9F\x94\x92"}.str() ==
        R"("gr\u00fc\u00df \u202e \ud83d\udd12")");
  CHECK(Json{"a\xFFz"}.str() == R"("a\ufffdz")");
  CHECK(Json{std::string_view{"a\0b", 3}}.str() == R"("a\u0000b")");
}

TEST_CASE("a report has the documented fields in the documented order") {
  CHECK(
      sample().json() ==
      R"({"v":1,"outcome":"ran","exit":0,"command_exit":0,"command_signal":null,"locked":true,"keys":["k"],"type":"lock",)"
      R"("owner":"me:1","fence":null,"slots":null,"waited_ms":0,"held_ms":12,"released":"yes","nodes":null,"error":null})");
}

TEST_CASE("a status file of an older run is gone at once, and a new one appears whole") {
  TempDir folder;
  const std::string file = folder / "status";
  write_file(file, "old");

  StatusOutput status;
  status.open({}, file);
  CHECK(::access(file.c_str(), F_OK) != 0);
  status.write(sample());
  CHECK(read_file(file) == sample().json() + "\n");
  status.write({.error = "too late"});
  CHECK(read_file(file) == sample().json() + "\n");
}

TEST_CASE("a link in the place of the status file is replaced and not followed") {
  TempDir folder;
  write_file(folder / "precious", "precious");
  REQUIRE(::symlink((folder / "precious").c_str(), (folder / "status").c_str()) == 0);

  StatusOutput status;
  status.open({}, folder / "status");
  status.write(sample());
  CHECK(read_file(folder / "precious") == "precious");
  CHECK(read_file(folder / "status") == sample().json() + "\n");
}

TEST_CASE("a device is written to, and never replaced by a report") {
  TempDir folder;
  const std::string device = folder / "null";  // not the real /dev/null: the user of this test may be root
  if (::mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) return skipped("we may not make a device");
  if (const Descriptor opened{::open(device.c_str(), O_WRONLY | O_CLOEXEC)}; !opened)
    return skipped("the file system of temporary files has no devices");
  StatusOutput status;
  status.open({}, device);
  status.write(sample());
  struct stat there{};
  REQUIRE(::stat(device.c_str(), &there) == 0);
  CHECK(S_ISCHR(there.st_mode));
}

TEST_CASE("a link to a descriptor is written to: /dev/stdout, /dev/fd/9") {
  RedisServer redis;
  TempDir folder;
  const std::string link = folder / "stdout";  // not the real /dev/stdout
  REQUIRE(::symlink("/proc/self/fd/1", link.c_str()) == 0);
  for (const std::string& file : {link, std::string{"/proc/self/fd/1"}}) {
    Rlock run = redis.rlock("run", "-k", "k", "--status-file", file, "--", "echo", "hello");
    CHECK(run.exit_code(std::chrono::seconds{30}) == 0);
    CHECK(run.out().starts_with("hello\n{\"v\":1,"));
  }
  struct stat there{};
  REQUIRE(::lstat(link.c_str(), &there) == 0);
  CHECK(S_ISLNK(there.st_mode));
}

TEST_CASE("a link that begins like one to a descriptor and leads elsewhere is replaced and not followed") {
  RedisServer redis;
  TempDir folder;
  const std::string victim = folder / "victim", link = folder / "status";
  write_file(victim, "precious");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const std::string& leads_to :
       {victim, folder / "pipe", std::string{"/dev/null"}, std::string{"1"}, std::string{"1/"}}) {
    CAPTURE(leads_to);
    const std::string out = leads_to.starts_with('/') ? "../../.." + leads_to : leads_to + "/../1";
    REQUIRE(::symlink(("/proc/self/fd/" + out).c_str(), link.c_str()) == 0);
    Rlock run = redis.rlock("run", "-k", "k", "--status-file", link, "--", "echo", "hello");
    CHECK(run.exit_code(std::chrono::seconds{30}) == 0);
    CHECK(run.out() == "hello\n");
    CHECK(read_file(victim) == "precious");
    struct stat there{};
    REQUIRE(::lstat(link.c_str(), &there) == 0);
    REQUIRE(S_ISREG(there.st_mode));
    CHECK(read_file(link).starts_with("{\"v\":1,"));
    ::unlink(link.c_str());
  }
}

TEST_CASE("a link to a descriptor from another user is replaced and not followed") {
  if (::geteuid() != 0) return skipped("only root can make a file somebody else's");
  RedisServer redis;
  TempDir folder;
  const std::string link = folder / "status";
  REQUIRE(::symlink("/proc/self/fd/1", link.c_str()) == 0);
  REQUIRE(::lchown(link.c_str(), 12345, 12345) == 0);
  Rlock run = redis.rlock("run", "-k", "k", "--status-file", link, "--", "echo", "hello");
  CHECK(run.exit_code(std::chrono::seconds{30}) == 0);
  CHECK(run.out() == "hello\n");
  struct stat there{};
  REQUIRE(::lstat(link.c_str(), &there) == 0);
  REQUIRE(S_ISREG(there.st_mode));
  CHECK(read_file(link).starts_with("{\"v\":1,"));
}

TEST_CASE(
    "a descriptor that --status-file names is written to where it stands, and the command does not get it") {
  RedisServer redis;
  TempDir folder;
  write_file(folder / "log", "old\n");
  const Descriptor log{::open((folder / "log").c_str(), O_WRONLY | O_CLOEXEC)};
  REQUIRE(::lseek(log.number(), 4, SEEK_SET) == 4);
  Process::Options options = redis.environment();
  options.descriptors[9] = log.number();
  Rlock run{{"run", "-k", "k", "--status-file", "/dev/fd/9", "--", "test", "-e", "/dev/fd/9"}, options};
  CHECK(run.exit_code(std::chrono::seconds{30}) == 1);
  CHECK(read_file(folder / "log").starts_with("old\n{\"v\":1,"));
}

TEST_CASE("a descriptor that is not open for writing is refused before anything is locked") {
  RedisServer redis;
  for (const auto& [file, why] :
       {std::pair{"/dev/fd/0", "not open for writing"}, std::pair{"/dev/fd/99", "Bad file descriptor"}}) {
    Rlock run = redis.rlock("run", "-k", "k", "--status-file", file, "--", "echo", "hello");
    CHECK(run.exit_code(std::chrono::seconds{30}) == 71);
    CHECK(run.out().empty());
    CHECK(contains(run.err(), why));
  }
}

TEST_CASE("a file with the name of the temporary report does not hinder the report") {
  TempDir folder;
  const std::string file = folder / "status";
  write_file(file + "." + std::to_string(::getpid()) + ".tmp", "in the way");
  StatusOutput status;
  status.open({}, file);
  status.write(sample());
  CHECK(read_file(file) == sample().json() + "\n");
  CHECK(output_of({"ls", "-A", folder.path()}) == "status\nstatus." + std::to_string(::getpid()) + ".tmp\n");
}

TEST_CASE("a status file does not replace a pipe that has a reader") {
  RedisServer redis;
  TempDir folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  Rlock run = redis.rlock("run", "-k", "k", "--status-file", pipe, "--", "echo", "hello");
  CHECK(run.exit_code(std::chrono::seconds{30}) == 71);
  CHECK(run.out().empty());
  CHECK(contains(run.err(), "--status-fd"));
  struct stat there{};
  REQUIRE(::lstat(pipe.c_str(), &there) == 0);
  CHECK(S_ISFIFO(there.st_mode));
}

TEST_CASE("a status file that cannot be written is refused before anything is locked") {
  CHECK_THROWS_AS(StatusOutput{}.open({}, "/nonexistent/status"), Error);
  CHECK_THROWS_AS(StatusOutput{}.open({}, "/tmp"), Error);
}

TEST_CASE("the status descriptor gets one line and is not inherited") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  StatusOutput status;
  status.open(ends[1], "");
  CHECK((::fcntl(ends[1], F_GETFD) & FD_CLOEXEC) != 0);

  HoldReport report{.keys = {LockName{"k"}}, .type = "lock"};
  report_failed(report, Error{Error::unreachable, "no server"});
  status.write(report);
  char text[1024];
  const ssize_t size = ::read(ends[0], text, sizeof text);
  REQUIRE(size > 0);
  const std::string line{text, static_cast<std::size_t>(size)};
  CHECK(line.starts_with(R"({"v":1,"outcome":"unreachable","exit":69,"command_exit":null,)"));
  CHECK(line.ends_with("\"error\":\"no server\"}\n"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a reader of the status that does not read delays the end for some seconds only") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const Descriptor reading{ends[0]}, writing{ends[1]};
  REQUIRE(::fcntl(writing.number(), F_SETFL, O_NONBLOCK) == 0);
  const std::string much(4096, 'x');
  while (::write(writing.number(), much.data(), much.size()) > 0) {}
  REQUIRE(::fcntl(writing.number(), F_SETFL, 0) == 0);

  RedisServer redis;
  for (const Words& status : {Words{"--status-fd", "9"}, Words{"--status-file", "/dev/fd/9"}}) {
    CAPTURE(status.front());
    Process::Options options = redis.environment();
    options.descriptors[9] = writing.number();
    Rlock run{{"run", "-k", "k", status[0], status[1], "--", "true"}, options};
    CHECK(run.exit_code(std::chrono::seconds{30}) == 0);
    CHECK(contains(run.err(), "cannot write the status to"));
    CHECK(contains(run.err(), "no process reads it"));
  }
}

TEST_CASE("a failed run leaves no report of an older run, and reports its reason") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "status";
  const auto report_of_run = [&](Words words) {
    write_file(file, "old");
    words.insert(words.begin(), {"run", "-k", "k", "--status-file", file});
    Rlock run{words, redis.environment()};
    static_cast<void>(run.exit_code(std::chrono::seconds{30}));
    return read_file(file);
  };
  const std::string not_found = report_of_run({"--", "no-such-command"});
  CHECK(contains(not_found, R"("outcome":"not-started","exit":127)"));
  CHECK(contains(not_found, R"("keys":["k"])"));
  CHECK(contains(not_found, "not found in PATH"));
  const std::string no_file = report_of_run({"--", "/dev/null"});
  CHECK(contains(no_file, R"("outcome":"not-started","exit":126)"));
  CHECK(contains(no_file, R"("error":"Permission denied")"));
  CHECK(contains(report_of_run({"--lease", "1ms", "--", "true"}), R"("outcome":"error","exit":78)"));
  CHECK(contains(report_of_run({}), R"("outcome":"error","exit":64)"));
  for (const Words& words :
       {Words{"--wait", "soon", "--", "true"}, Words{"--no-such-option", "--", "true"}}) {
    const std::string usage = report_of_run(words);
    CHECK(usage.starts_with(R"({"v":1,"outcome":"error","exit":64,)"));
    CHECK(contains(usage, words.front()));
  }
  write_file(file, "old");
  Rlock late = redis.rlock("run", "-k", "", "--lease", "x", "--status-file", file, "--", "true");
  CHECK(late.exit_code(std::chrono::seconds{30}) == 64);
  CHECK(contains(read_file(file), "-k: a key has at least one byte"));
  write_file(file, "old");
  Rlock help = redis.rlock("run", "--status-file", file, "--help");
  CHECK(help.exit_code(std::chrono::seconds{30}) == 0);
  CHECK(read_file(file) == "old");

  Rlock holder = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k"); }));
  const std::string busy = report_of_run({"-n", "--", "true"});
  CHECK(contains(busy, R"("outcome":"busy","exit":75)"));
  CHECK_FALSE(contains(busy, R"("waited_ms":null)"));
}

TEST_CASE("refused words are reported even if the status file cannot be written") {
  RedisServer redis;
  for (const Words& wrong : {Words{"--no-such-option"}, Words{"--wait", "soon"}}) {
    CAPTURE(wrong.front());
    Words words{"run", "-k", "k", "--status-file", "/nonexistent/status"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    words.insert(words.end(), {"--", "true"});
    Rlock run{words, redis.environment()};
    CHECK(run.exit_code(std::chrono::seconds{30}) == 64);
    CHECK(contains(run.err(), wrong.front()));
    CHECK(contains(run.err(), "/nonexistent/status"));
  }
}

TEST_CASE("a standard descriptor that gets the status stays the command's too") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--status-fd", "1", "--", "echo", "hello");
  CHECK(run.exit_code(std::chrono::seconds{30}) == 0);
  CHECK(run.out().starts_with("hello\n{\"v\":1,"));
}

TEST_CASE(
    "a reader of the status or of stderr that is gone does not change the exit status of a refused run") {
  const auto status_of = [](const Words& words, int number) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::close(ends[0]);
    Process::Options options = Rlock::clean_environment();
    options.env["RLOCK_URL"] = "redis://127.0.0.1:1";
    options.descriptors[number] = ends[1];
    Rlock run{words, options};
    const int status = run.exit_code();
    ::close(ends[1]);
    return status;
  };
  CHECK(status_of({"run", "--status-fd", "7", "-k", "k", "--", "nosuchcommand"}, 7) == 127);
  CHECK(status_of({"run", "--status-fd", "7", "-k", "k", "--min-hold", "5s", "--max-hold", "1s", "true"},
                  7) == 78);
  TempDir folder;
  const std::string file = folder / "status";
  CHECK(status_of({"run", "--status-file", file, "-k", "k", "--", "nosuchcommand"}, STDERR_FILENO) == 127);
  CHECK(contains(read_file(file), "\"exit\":127"));
}
