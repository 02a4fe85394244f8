// Mistakes of a user or a script: rlock prints one line with what it expected, ends with the documented exit
// code, and sends nothing.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/fake_redis.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// rlock with a server that records each connection: there must be none.
class RefusedBeforehand {
 public:
  RefusedBeforehand() { options_.env["RLOCK_URL"] = recorder_.url(); }
  ~RefusedBeforehand() { CHECK(recorder_.connections() == 0); }
  RefusedBeforehand(const RefusedBeforehand&) = delete;
  RefusedBeforehand& operator=(const RefusedBeforehand&) = delete;

  void with(int status, const Words& words, const std::string& sentence = "") {
    CAPTURE(joined(words, " ").substr(0, 200));
    Rlock rlock{words, options_};
    CHECK(rlock.exit_code(std::chrono::seconds{30}) == status);
    CHECK(rlock.out().empty());
    CHECK(rlock.err().starts_with("rlock: "));
    CHECK(split(rlock.err(), '\n').size() == 2);
    CHECK(sanitized(rlock.err().substr(0, rlock.err().size() - 1), 10000) + "\n" == rlock.err());
    CHECK_FALSE(contains(rlock.err(), "CANARY"));
    CHECK_MESSAGE(contains(rlock.err(), sentence), rlock.err());
  }

  void run(int status, Words options, const std::string& sentence = "") {
    options.insert(options.begin(), {"run", "-k", "k"});
    options.insert(options.end(), {"--", "true"});
    with(status, options, sentence);
  }

  void with_variable(const std::string& name, const std::string& value, int status) {
    const auto before = options_;
    options_.env[name] = value;
    run(status, {});
    options_ = before;
  }

 private:
  FakeRedis recorder_;
  Process::Options options_ = Rlock::clean_environment();
};

}  // namespace

TEST_CASE("a malformed duration is refused for every option") {
  RefusedBeforehand refused;
  const Words nonsense{"",
                       "-1s",
                       "-0",
                       "1e3",
                       "1e-9s",
                       "10 s",
                       "10S",
                       "10secs",
                       "1y",
                       "1M",
                       "10µs",
                       "nan",
                       "inf",
                       "-inf",
                       "0x10",
                       "1_000",
                       "１０s",
                       "1,5s",
                       "1.s",
                       "1..5s",
                       "10m5",
                       "+5",
                       "forevr",
                       "s",
                       ".",
                       "1h 30m",
                       "1000000d",
                       "9223372036854775807ms",
                       "99999999999999999999s"};
  for (const std::string& text : nonsense) refused.run(64, {"--lease=" + text}, "--lease: ");
  for (const char* option : {"--wait", "--min-hold", "--max-hold", "--kill-after", "--lost-grace",
                             "--sync-timeout", "--connect-timeout", "--command-timeout"}) {
    refused.run(64, {option, "-1"}, option);
    refused.run(64, {option, "1e3"}, option);
  }
  for (const char* option :
       {"--lease", "--max-hold", "--sync-timeout", "--connect-timeout", "--command-timeout"})
    refused.run(64, {option, "0"}, "must be more than zero");
  refused.run(78, {"--lease", "0.4ms"}, "774ms or more");
}

TEST_CASE("a malformed or too large number is refused") {
  RefusedBeforehand refused;
  for (const std::string text : {"", "-1", "x", "1.5", "1e3", "99999999999999999999"}) {
    for (const std::string option : {"--db", "--permits", "--sync-replicas", "--status-fd"})
      refused.run(64, {option + "=" + text}, "expected a whole number");
    refused.with(64, {"sem", "acquire", "k", "--count=" + text}, "expected a whole number");
    refused.with(64, {"latch", "down", "k", "--by=" + text}, "expected a whole number");
    if (text != "-1") refused.with(64, {"sem", "init", "k", text}, "expected a whole number");
  }
  refused.with(64, {"sem", "init", "k", "2147483648"}, "2147483647");
  refused.with(64, {"latch", "set", "k", "0"}, "expected a whole number");
  refused.run(64, {"--permits", "2", "--count", "3"});
  for (const std::string text : {"256", "-1", "x"}) refused.run(64, {"-E", text});
  for (const std::string text : {"0", "65", "NOPE"}) refused.run(64, {"--signal", text});
  for (const std::string text : {"5", "5ms..1ms", "x..y"}) refused.run(64, {"--backoff", text});
}

TEST_CASE("a malformed URL is refused in every place, and shows no password") {
  RefusedBeforehand refused;
  TempDir folder;
  const Words nonsense{"http://u:CANARY@h",
                       "h:6379",
                       "redis:/host",
                       "redis://",
                       "rediss//h",
                       "redis://::1:6379",
                       "redis://h:0",
                       "redis://h:65536",
                       "redis://h:6379x",
                       "redis://u:CANARY%zz@h",
                       "redis://u:CANARY%00@h",
                       "redis://u:CANARY#b@h",
                       "redis://u:CANARY/b@h",
                       "redis://h/x",
                       "redis://h/0/1",
                       "redis://h?foo=1",
                       "redis://h/0?tls=fasle",
                       "unix://relative",
                       "unix:///" + std::string(110, 'x'),
                       "local:x",
                       "redis+sentinel://h",
                       "redis://a,b",
                       "redis://[::1",
                       "redis://[zz]",
                       "REDIS://h",
                       "redis://u:CANARY@h:x",
                       "redis+cluster://h/1"};
  for (const std::string& url : nonsense) {
    refused.run(64, {"-u", url});
    refused.with_variable("RLOCK_URL", url, 64);
    write_file(folder / "config", "url = " + url + "\n");
    ::chmod((folder / "config").c_str(), 0600);
    refused.run(78, {"--config", folder / "config"}, "line 1");
  }
  refused.run(64, {"-u", ""});
  refused.run(64, {"-u", "redis://h h"});
  refused.run(64, {"-u", "redis://h", "-u", "redis://h"}, "given twice");
  refused.run(64, {"-u", "redis+cluster://h", "--db", "1"}, "no databases");
}

TEST_CASE("an unsuitable file is refused by its name") {
  RefusedBeforehand refused;
  TempDir folder;
  write_file(folder / "empty", "");
  write_file(folder / "two", "a\nb\n");
  write_file(folder / "junk", "junk\n");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (const std::string name : {"none", "", "fifo"})
    refused.run(78, {"--config", folder / name}, "config file");
  for (const std::string name : {"none", "", "empty", "two"})
    refused.run(78, {"--password-file", folder / name}, "password file");
  refused.with_variable("RLOCK_CONFIG", folder / "none", 78);
  refused.with_variable("RLOCK_PASSWORD_FILE", folder / "none", 78);
  for (const std::string option : {"--cacert", "--cert", "--tls-key"}) {
    refused.run(64, {option, folder / "junk"}, "--tls or rediss://");
    refused.run(64, {option, ""}, "expected the name of a file");
  }
  for (const std::string name : {"none", "", "empty", "junk"})
    refused.run(78, {"-u", "rediss://127.0.0.1:1", "--cacert", folder / name}, "--cacert '");
  refused.run(78, {"-u", "rediss://127.0.0.1:1", "--cacertdir", folder / "junk"}, "--cacertdir '");
  refused.run(78, {"-u", "rediss://127.0.0.1:1", "--cacert", folder / "fifo"},
              "--cacert '" + folder / "fifo" + "': is not a regular file");
  refused.run(64, {"-u", "rediss://127.0.0.1:1", "--cert", folder / "junk"}, "need each other");
  for (const char* name : {"", ".test"})
    refused.run(64, {"-u", "rediss://127.0.0.1:1", "--sni", name}, "--sni: expected the name of a host");
  refused.run(64, {"--status-file", ""}, "expected the name of a file");
  refused.run(71, {"--status-file", "/nonexistent/x"});
}

TEST_CASE("an unknown line of a config file is refused with its number") {
  RefusedBeforehand refused;
  TempDir folder;
  const std::string config = folder / "config";
  for (const std::string text :
       {"nonsense", "foo = 1", "lease = soon", "min-hold = 3s", "url = redis://:CANARY@h # x",
        "insecure = yes", "url =", "db = x", "user = \xff\xfe", "user = a\x1b[2J"}) {
    write_file(config, "# first\n" + text + "\n");
    ::chmod(config.c_str(), 0600);
    refused.run(78, {"--config", config}, "line 2");
  }
  write_file(config, "db = 1\ndb = 2\n");
  refused.run(78, {"--config", config}, "twice");
  write_file(config, "url = redis://:CANARY@h\n");
  ::chmod(config.c_str(), 0644);
  refused.run(78, {"--config", config}, "chmod 600");
}
