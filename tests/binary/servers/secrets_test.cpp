// A password appears nowhere, whatever way it came and however the run ended. rlock leaves no core dump,
// which would contain it.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"
#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const std::string kSecret = "CANARY-x7";

/// One way in which a password can come.
struct SecretSource {
  std::string name;
  Words words;                 ///< options of the command line
  std::string variable{};      ///< the variable with the password, or with a URL that contains it
  std::string config{};        ///< the lines of the config file
  bool stays = false;          ///< the variable reaches the command unchanged
  bool by_descriptor = false;  ///< descriptor 7 delivers the password
};

class Passwords {
 public:
  explicit Passwords(const RedisServer& redis) : server_(redis.socket()) {
    write_file(file(), kSecret + "\n");
    ::chmod(file().c_str(), 0600);
  }

  std::vector<SecretSource> sources() const {
    const std::string with = "unix://:" + kSecret + "@" + server_, without = "unix://" + server_;
    return {
        {"URL", {"-u", with}},
        {"URL after =", {"--url=" + with}},
        {"--password-file", {"-u", without, "--password-file", file()}},
        {"descriptor", {"-u", without, "--password-file", "/dev/fd/7"}, "", "", false, true},
        {"RLOCK_URL", {}, "RLOCK_URL=" + with},
        {"REDIS_URL", {}, "REDIS_URL=" + with, "", true},
        {"RLOCK_PASSWORD", {"-u", without}, "RLOCK_PASSWORD=" + kSecret, "", true},
        {"RLOCK_PASSWORD_FILE", {"-u", without}, "RLOCK_PASSWORD_FILE=" + file()},
        {"VALKEYCLI_AUTH", {"-u", without}, "VALKEYCLI_AUTH=" + kSecret, "", true},
        {"REDISCLI_AUTH", {"-u", without}, "REDISCLI_AUTH=" + kSecret, "", true},
        {"config url", {}, "", "url = " + with},
        {"config password-file", {}, "", "url = " + without + "\npassword-file = " + file()},
    };
  }

  Process::Options environment(const SecretSource& source) const {
    Process::Options options = Rlock::clean_environment();
    const std::size_t equals = source.variable.find('=');
    if (!source.variable.empty())
      options.env[source.variable.substr(0, equals)] = source.variable.substr(equals + 1);
    if (source.by_descriptor) options.descriptors = {{7, pipe_with_canary()}};
    if (source.config.empty()) return options;
    const std::string config = folder_ / "config";
    write_file(config, source.config + "\n");
    ::chmod(config.c_str(), 0600);
    options.env["RLOCK_CONFIG"] = config;
    return options;
  }

  std::string status_file() const { return folder_ / "status"; }

 private:
  std::string file() const { return folder_ / "password"; }

  static int pipe_with_canary() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::write(ends[1], kSecret.data(), kSecret.size()) == static_cast<ssize_t>(kSecret.size()));
    ::close(ends[1]);
    return ends[0];
  }

  TempDir folder_;
  std::string server_;
};

bool keeps_secret(const std::string& text) { return !contains(text, kSecret); }

Words run_words_from(const SecretSource& source, Words options, const Words& command) {
  Words words{"run", "-v", "-k", "k"};
  for (const Words& more : {source.words, std::move(options), Words{"--"}, command})
    words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// How many descriptors of this process lead to the file of our descriptor `fd`?
std::ptrdiff_t opened(pid_t pid, int fd) {
  struct stat ours{};
  REQUIRE(::fstat(fd, &ours) == 0);
  std::error_code gone;
  return std::ranges::count_if(
      std::filesystem::directory_iterator{"/proc/" + std::to_string(pid) + "/fd", gone},
      [&](const auto& entry) {
        struct stat theirs{};
        return ::stat(entry.path().c_str(), &theirs) == 0 && theirs.st_dev == ours.st_dev &&
               theirs.st_ino == ours.st_ino;
      });
}

std::string file_of(pid_t pid, const std::string& name) {
  return read_file("/proc/" + std::to_string(pid) + "/" + name);
}

/// Every value of every key, and every client, as this server shows them.
std::string all_of(RedisServer& redis) {
  const std::string keys = redis.cli({"KEYS", "*"});
  std::string all = keys + redis.cli({"CLIENT", "LIST"});
  for (const std::string& key : split(keys, '\n')) {
    if (!key.empty()) all += redis.cli({"DUMP", key});
  }
  return all;
}

/// Checks that nothing that rlock and its processes print or show contains the password, neither while the
/// command runs nor at its end.
void check_a_hold(RedisServer& redis, const Passwords& passwords, const SecretSource& source) {
  const std::string status = passwords.status_file();
  Rlock rlock{run_words_from(source, {"--reason", "r", "--lease", "5s", "--status-file", status},
                             {"sh", "-c", "env; exec sleep 60"}),
              passwords.environment(source)};
  REQUIRE_MESSAGE(eventually([&] { return contains(rlock.out(), "RLOCK_HELD=1"); }, kDeadline), rlock.err());
  for (const pid_t pid : rlock.family()) CHECK(keeps_secret(file_of(pid, "cmdline")));
  if (!source.stays) CHECK(keeps_secret(rlock.out()));
  CHECK(keeps_secret(all_of(redis)));
  Process::Options beside = redis.environment();
  beside.env["RLOCK_PASSWORD"] = kSecret;
  for (const Words& words : {Words{"inspect", "k"}, Words{"inspect", "--json", "k"}, Words{"doctor"},
                             Words{"run", "-n", "-k", "k", "--", "true"}}) {
    Rlock other{words, beside};
    other.exit_code(kDeadline);
    CHECK(keeps_secret(other.out() + other.err()));
  }
  redis.del("k");
  CHECK(rlock.exit_code(kDeadline) == 125);
  CHECK(keeps_secret(rlock.err() + read_file(status)));
  CHECK(contains(read_file(status), "lost"));
}

void check_an_end(const Passwords& passwords, const SecretSource& source, int exit, const Words& options = {},
                  const Words& command = {"true"}) {
  const std::string status = passwords.status_file();
  Words all = options;
  all.insert(all.end(), {"--status-file", status});
  Rlock rlock{run_words_from(source, all, command), passwords.environment(source)};
  CHECK_MESSAGE(rlock.exit_code(kDeadline) == exit, rlock.err());
  CHECK(keeps_secret(rlock.out() + rlock.err() + read_file(status)));
}

}  // namespace

TEST_CASE("a password is found nowhere while a lock is held, whatever its source") {
  RedisServer redis{{.config = {"requirepass " + kSecret}}};
  redis.cli({"AUTH", kSecret});
  const Passwords passwords{redis};
  for (const SecretSource& source : passwords.sources()) {
    CAPTURE(source.name);
    check_a_hold(redis, passwords, source);
  }
}

TEST_CASE("a password is found nowhere after any failure of the run, whatever its source") {
  RedisServer redis{{.config = {"requirepass " + kSecret}}};
  redis.cli({"AUTH", kSecret});
  const Passwords passwords{redis};
  for (const SecretSource& source : passwords.sources()) {
    CAPTURE(source.name);
    redis.cli({"HSET", "k", "somebody:1", "1"});
    redis.cli({"PEXPIRE", "k", "60000"});
    check_an_end(passwords, source, 75, {"-n"});
    redis.del("k");
    redis.cli({"RPUSH", "k", "x"});
    check_an_end(passwords, source, 65);
    redis.del("k");
    check_an_end(passwords, source, 127, {}, {"/nonexistent/command"});
    check_an_end(passwords, source, 64, {"--lease", "nonsense"});
    check_an_end(passwords, source, 78, {"--db", "99"});
  }
  redis.cli({"CONFIG", "SET", "requirepass", "another"});  // our password is wrong now
  for (const SecretSource& source : passwords.sources()) {
    CAPTURE(source.name);
    check_an_end(passwords, source, 77, {"--wait", "1s"});
  }
  redis.cli({"CONFIG", "SET", "requirepass", ""});
  for (const SecretSource& source : passwords.sources()) check_an_end(passwords, source, 77);
  CHECK_FALSE(contains(redis.keys(), "k\n"));
  redis.kill();
  for (const SecretSource& source : passwords.sources()) check_an_end(passwords, source, 69);
}

TEST_CASE(
    "--scrub-password takes every password out of the command's environment, and leaves it the server") {
  RedisServer redis{{.config = {"requirepass " + kSecret}}};
  redis.cli({"AUTH", kSecret});
  const Passwords passwords{redis};
  for (const SecretSource& source : passwords.sources()) {
    CAPTURE(source.name);
    Process::Options options = passwords.environment(source);
    for (const char* name : {"RLOCK_PASSWORD", "VALKEYCLI_AUTH", "REDISCLI_AUTH"})
      options.env.try_emplace(name, kSecret);
    options.env.try_emplace("REDIS_URL", "redis://" + kSecret + "@[");
    Rlock rlock{run_words_from(source, {"--scrub-password"}, {"env"}), options};
    CHECK_MESSAGE(rlock.exit_code(kDeadline) == 0, rlock.err());
    CHECK(keeps_secret(rlock.out()));
    CHECK(contains(rlock.out(), "RLOCK_URL=unix://" + redis.socket() + "\n"));
  }
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] = redis.url();
  options.env["RLOCK_PASSWORD"] = kSecret;
  for (const auto& [url, left] :
       {std::pair{"rediss://u:" + kSecret + "@h:1/2", "REDIS_URL=rediss://u@h:1/2\n"},
        std::pair{std::string{"redis://h"}, "REDIS_URL=redis://h\n"},
        std::pair{std::string{"not-ours"}, "REDIS_URL=not-ours\n"}}) {
    options.env["REDIS_URL"] = url;
    Rlock rlock{{"run", "--scrub-password", "-k", "k", "env"}, options};
    CHECK(rlock.exit_code(kDeadline) == 0);
    CHECK_MESSAGE(contains(rlock.out(), left), rlock.out());
  }
}

TEST_CASE("a pipe for the password whose writer is silent ends by --wait, or by a signal") {
  RedisServer redis;
  TempDir folder;
  const Pipe pipe;
  Process::Options options = redis.environment();
  options.descriptors = {{7, pipe.reading.number()}};
  const std::string why =
      "password file '/dev/fd/7' (--password-file): did not end in time; the process at its other end must "
      "write the password and close it";
  for (const Words& words :
       {Words{"run", "-w", "200ms", "-k", "k", "--", "true"},
        Words{"run", "-w", "200ms", "-u", redis.url(), "-u", "unix:///none", "-k", "k", "--", "true"},
        Words{"lock", "wait", "-w", "200ms", "k"}}) {
    Process::Options once = options;
    once.env["RLOCK_PASSWORD_FILE"] = "/dev/fd/7";
    Rlock rlock{words, once};
    CHECK(rlock.exit_code(kDeadline) == 78);
    CHECK_MESSAGE(contains(rlock.err(), "did not end in time; the process at its other end must"),
                  rlock.err());
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Rlock rlock{
        {"run", "-k", "k", "--status-file", folder / "status", "--password-file", "/dev/fd/7", "--", "true"},
        options};
    // It waits as soon as it has opened the pipe. Before exec(), its process has our descriptors, too.
    REQUIRE(eventually(
        [&] {
          return file_of(rlock.pid(), "comm") == "rlock\n" && opened(rlock.pid(), pipe.reading.number()) == 2;
        },
        kDeadline));
    rlock.signal(signal);
    CHECK(rlock.exit_code(kDeadline) == 128 + signal);
    CHECK(contains(read_file(folder / "status"), "\"outcome\":\"interrupted\""));
    CHECK_MESSAGE(contains(rlock.err(), why), rlock.err());
  }
  for (const char* verb : {"list", "metrics"}) {
    Rlock rlock{{verb, "--password-file", "/dev/fd/7"}, options};
    REQUIRE(eventually(
        [&] {
          return file_of(rlock.pid(), "comm") == "rlock\n" && opened(rlock.pid(), pipe.reading.number()) == 2;
        },
        kDeadline));
    rlock.signal(SIGTERM);
    CHECK(rlock.exit_code(kDeadline) == 128 + SIGTERM);
  }
  Rlock patient{{"run", "-k", "k", "--password-file", "/dev/fd/7", "--", "true"}, options};
  REQUIRE(eventually([&] { return contains(patient.err(), "waiting for the password: "); }, kDeadline));
  patient.signal(SIGTERM);
  CHECK(patient.exit_code(kDeadline) == 128 + SIGTERM);
  CHECK_FALSE(contains(patient.err(), "rlock: waiting for redis"));
  CHECK(redis.keys().empty());
}

TEST_CASE("a password that is typed is not shown") {
  RedisServer redis{{.config = {"requirepass " + kSecret}}};
  redis.cli({"AUTH", kSecret});
  Pty terminal{{"sh", "-c", "stty iutf8; exec \"$@\"", "sh", rlock_binary(), "run", "-v", "-k", "k", "-u",
                redis.url(), "--askpass", "--", "sh", "-c", "env; echo $(tr '\\0' ' ' </proc/$PPID/cmdline)"},
               Rlock::clean_environment()};
  terminal.expect("Password: ");
  terminal.type("\u00fc\x7f" + kSecret + "\n");  // the erase key deletes the whole \u00fc
  CHECK(terminal.exit_code() == 0);
  CHECK(contains(terminal.screen(), "--askpass"));
  CHECK(keeps_secret(terminal.screen()));
}

TEST_CASE("rlock leaves no core, and its command may") {
  RedisServer redis;
  TempDir folder;
  Process::Options options = redis.environment();
  options.directory = folder.path();
  const std::string unlimited = "ulimit -S -c $(ulimit -H -c); ";
  const auto dumps = [&](const std::string& script) {
    Process shell{{"sh", "-c", unlimited + script}, options};
    const int status = shell.wait_status(kDeadline);
    return WIFSIGNALED(status) && WCOREDUMP(status);
  };
  if (!dumps("kill -SEGV $$")) return skipped("this machine dumps no cores");
  CHECK_FALSE(dumps("exec " + rlock_binary() + " run -k k -- sh -c 'kill -SEGV $PPID; sleep 60'"));

  if (kSanitized) return skipped("AddressSanitizer forbids cores itself");
  Process limits{
      {"sh", "-c", unlimited + "ulimit -c; exec " + rlock_binary() + " run -k l -- sh -c 'ulimit -c'"},
      options};
  CHECK(limits.exit_code(kDeadline) == 0);
  const auto lines = split(limits.out(), '\n');
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == lines[1]);
}
