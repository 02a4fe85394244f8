#include "cmd/server/config.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/server/deployment.h"
#include "support/contains.h"
#include "support/forked.h"
#include "support/process.h"
#include "support/skipped.h"
#include "support/variable.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The options that a config file sets, or the message with which it is refused.
struct Reading {
  ServerOptions options;
  std::string refusal;

  explicit Reading(const std::string& path) {
    try {
      Profile none;
      read_config(path, options, none);
    } catch (const Error& error) {
      CHECK(error.kind() == Error::config);
      CHECK_FALSE(contains(error.what(), "\n"));
      refusal = error.what();
    }
  }
};

/// A config file with this text, readable by this user only.
struct Written {
  TempDir folder;
  std::string path = folder / "config";

  explicit Written(const std::string& text, mode_t mode = 0600) {
    write_file(path, text);
    ::chmod(path.c_str(), mode);
  }
  Reading read() const { return Reading{path}; }
  std::string refusal() const {
    const std::string text = read().refusal;
    const std::string where = "config file '" + path + "' ";
    return text.starts_with(where) ? text.substr(where.size()) : text;
  }
};

/// The environment variables of a test, without those of the user.
class TestEnvironment {
 public:
  explicit TestEnvironment(const std::map<std::string, std::string>& values = {}) {
    for (const char* name : {"RLOCK_URL", "RLOCK_CONFIG", "RLOCK_PROFILE", "RLOCK_PREFIX", "RLOCK_PASSWORD",
                             "RLOCK_PASSWORD_FILE", "REDIS_URL", "VALKEYCLI_AUTH", "REDISCLI_AUTH"})
      ::unsetenv(name);
    ::setenv("XDG_CONFIG_HOME", home_.path().c_str(), 1);
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
    set_verbosity(Verbosity::quiet);
  }
  ~TestEnvironment() { set_key_text("", ""); }
  TestEnvironment(const TestEnvironment&) = delete;
  TestEnvironment& operator=(const TestEnvironment&) = delete;

  /// Puts a link to itself where the folder of the config file would be: not even root can enter it.
  void obstruct() const { REQUIRE(::symlink("rlock", (home_ / "rlock").c_str()) == 0); }

  /// Writes ~/.config/rlock/config.
  void config(const std::string& text) const {
    ::mkdir((home_ / "rlock").c_str(), 0700);
    write_file(home_ / "rlock/config", text);
    ::chmod((home_ / "rlock/config").c_str(), 0600);
  }

 private:
  TempDir home_;
};

std::string first_url(const ServerOptions& flags = {}) { return resolve(flags).targets.front().url(); }

std::string password(const ServerOptions& flags = {}) {
  return resolve(flags).targets.front().password.read().value_or("");
}

}  // namespace

TEST_CASE("each line of a config file sets one thing") {
  const Reading reading =
      Written{
          "\xEF\xBB\xBF# where the locks live\r\n"
          "\n"
          "  url = redis://db1:6380/2  \r\n"
          "url=redis://db2\n"
          "\tprefix = app: \n"
          "db = 3\n"
          "tls = yes\n"
          "connect-timeout = 500ms\n"
          "user = a = b"}
          .read();
  CHECK(reading.refusal.empty());
  CHECK(reading.options.urls == std::vector<std::string>{"redis://db1:6380/2", "redis://db2"});
  CHECK(reading.options.prefix == "app:");
  CHECK(reading.options.db == 3);
  CHECK(reading.options.tls == true);
  CHECK(reading.options.connect_timeout == Milliseconds{500});
  CHECK(reading.options.user == "a = b");
}

TEST_CASE("an empty config file, and one of comments, say nothing") {
  CHECK(Written{""}.refusal().empty());
  CHECK(Written{"#\n# url = http://nonsense\n\n   \n"}.refusal().empty());
}

TEST_CASE("a setting that a config file may not contain is refused with its line") {
  CHECK(Written{"\nurll = redis://h\n"}.refusal() == "line 2: unknown name 'urll'; did you mean url?");
  CHECK(Written{"nonsense = 30s\n"}.refusal().starts_with(
      "line 1: unknown name; known are url, password-file, "));
  CHECK(Written{"leese = 30s\n"}.refusal() == "line 1: unknown name 'leese'; did you mean lease?");
  CHECK(Written{"min-hold = 30s\n"}.refusal() == "line 1: min-hold is for the command line only");
  CHECK(Written{"key = k\n"}.refusal() == "line 1: key is for the command line only");
  CHECK(Written{"insecure = yes\n"}.refusal() == "line 1: insecure is for the command line only");
  CHECK(Written{"config = /x\n"}.refusal() == "line 1: config is for the command line only");
  CHECK(Written{"u = redis://h\n"}.refusal().starts_with("line 1: unknown name; known are"));
  CHECK(Written{"url\n"}.refusal() == "line 1: expected name = value");
  CHECK(Written{"db =\n"}.refusal() == "line 1: db has no value");
  CHECK(Written{"db = x\n"}.refusal().starts_with("line 1: db: expected a whole number"));
  CHECK(Written{"tls = maybe\n"}.refusal() == "line 1: tls: expected yes or no");
  CHECK(Written{"db = 1\ndb = 1\n"}.refusal() == "line 2: db appears twice");
  CHECK(Written{"db = 1 # shop\n"}.refusal() == "line 1: db: a comment needs a line of its own");
  CHECK(Written{"db = #1\n"}.refusal() == "line 1: db: a comment needs a line of its own");
  CHECK(Written{"url = http://h\n"}.refusal().starts_with("line 1: url: "));
  CHECK(Written{"prefix = \x1b[31m\n"}.refusal() == "line 1: control characters or bytes that are no UTF-8");
  CHECK(Written{"prefix = \xFF\n"}.refusal() == "line 1: control characters or bytes that are no UTF-8");
  CHECK(Written{std::string{"prefix = a\0b\n", 13}}.refusal() ==
        "line 1: control characters or bytes that are no UTF-8");
  CHECK(Written{"a\rb = c\n"}.refusal() == "line 1: control characters or bytes that are no UTF-8");
  CHECK(Written{"# a comment\rurl = redis://h\r"}.refusal() ==
        "line 1: control characters or bytes that are no UTF-8");
}

TEST_CASE("a default of an option is checked in the config file, for every verb") {
  const Reading reading = Written{"lease = 45s\nwait=forever\n"}.read();
  CHECK(reading.refusal.empty());
  REQUIRE(reading.options.defaults.size() == 2);
  CHECK(reading.options.defaults[0].name == "lease");
  CHECK(reading.options.defaults[0].value == "45s");
  CHECK(Written{"\nlease = soon\n"}.refusal().starts_with("line 2: lease: 'soon' is not a duration"));
  CHECK(Written{"wait = soon\n"}.refusal().starts_with("line 1: wait: 'soon' is not a duration"));
  CHECK(Written{"max-hold = 0\n"}.refusal() == "line 1: max-hold: must be more than zero");
  CHECK(Written{"kill-after = -1s\n"}.refusal().starts_with("line 1: kill-after: "));
  CHECK(Written{"backoff = 5ms\n"}.refusal() == "line 1: backoff: expected MIN..MAX");
  CHECK(Written{"sync-replicas = x\n"}.refusal().starts_with("line 1: sync-replicas: expected a whole"));
  CHECK(Written{"if-unreachable = x\n"}.refusal() ==
        "line 1: if-unreachable: expected one of: fail skip run");
  CHECK(Written{"[other]\nlease = soon\n"}.refusal().starts_with("line 2: lease: 'soon'"));
  CHECK(Written{"lease = 1s\nlease = 2s\n"}.refusal() == "line 2: lease appears twice");
}

TEST_CASE("a file that a config file names means the same one wherever rlock is started") {
  for (const std::string name : {"password-file", "cacert", "cacertdir", "cert", "tls-key"}) {
    CHECK(Written{name + " = secrets/file\n"}.refusal() ==
          "line 1: " + name + ": expected an absolute path: another one depends on where rlock starts");
    CHECK(Written{name + " = /secrets/file\n"}.refusal().empty());
  }
}

TEST_CASE("a password in a file that others can read is refused and not shown") {
  for (const mode_t mode : {0644, 0640, 0604}) {
    const std::string refusal = Written{"url = redis://u:CANARY@h\n", mode}.refusal();
    CHECK(refusal == "line 1: a password in a file that others can read; chmod 600 it, or use password-file");
  }
  CHECK(Written{"url = redis://u:CANARY@h\n", 0600}.refusal().empty());
  CHECK(Written{"url = redis://h\npassword-file = /run/secret\n", 0644}.refusal().empty());
  CHECK_FALSE(contains(Written{"url = http://u:CANARY@h\n", 0600}.refusal(), "CANARY"));
}

TEST_CASE("a config file that others can write to is refused, with the remedy") {
  for (const mode_t mode : {0620, 0602, 0664, 0666}) {
    const Written file{"url = redis://h\n", mode};
    CHECK(file.read().refusal ==
          "config file '" + file.path + "': others can write to it; chmod go-w " + file.path);
  }
  for (const mode_t mode : {0600, 0644, 0755}) CHECK(Written{"url = redis://h\n", mode}.refusal().empty());
}

TEST_CASE("a config file of another user is refused, one of root is not") {
  if (::geteuid() != 0) return skipped("only root can give a file away");
  const Written file{"url = redis://h\n", 0644};
  const auto taken_by = [&](uid_t user) {
    const auto take = [&] { return ::seteuid(user) == 0 && file.read().refusal.empty() ? 0 : 1; };
    return in_another_process(take) == 0;
  };
  REQUIRE(::chmod(file.folder.path().c_str(), 0711) == 0);
  CHECK(taken_by(0));
  CHECK(taken_by(12345));

  REQUIRE(::chown(file.path.c_str(), 12345, 12345) == 0);
  CHECK(taken_by(12345));
  CHECK_FALSE(taken_by(12346));
  CHECK(file.read().refusal == "config file '" + file.path + "': belongs to another user; it must be root's");
  REQUIRE(::symlink(file.path.c_str(), (file.folder / "link").c_str()) == 0);
  CHECK(Reading{file.folder / "link"}.refusal.ends_with("belongs to another user; it must be root's"));
}

TEST_CASE("a config file that is too large is refused, and a FIFO does not make rlock hang") {
  TempDir folder;
  CHECK(Reading{folder / "none"}.refusal ==
        "config file '" + (folder / "none") + "': No such file or directory");
  CHECK(Reading{folder.path()}.refusal.ends_with(": not a regular file"));
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(Reading{folder / "fifo"}.refusal.ends_with(": not a regular file"));
  CHECK(Reading{"/dev/zero"}.refusal.ends_with(": not a regular file"));
  write_file(folder / "large", std::string(64 * 1024 + 1, '#'));
  CHECK(Reading{folder / "large"}.refusal.ends_with(": larger than 64 KiB"));
  write_file(folder / "largest", std::string(64 * 1024, '#'));
  CHECK(Reading{folder / "largest"}.refusal.empty());
}

TEST_CASE("flags beat the environment, which beats the config file, which beats REDIS_URL") {
  ServerOptions flags;
  CHECK((TestEnvironment{}, first_url()) == "redis://127.0.0.1:6379");
  CHECK((TestEnvironment{{{"REDIS_URL", "redis://r"}}}, first_url()) == "redis://r:6379");

  const TestEnvironment file{{{"REDIS_URL", "redis://r"}}};
  file.config("url = redis://c\ndb = 3\n");
  CHECK(first_url() == "redis://c:6379/3");
  ::setenv("RLOCK_URL", "redis://e", 1);
  CHECK(first_url() == "redis://e:6379/3");
  flags.urls = {"redis://f"};
  flags.db = 4;
  CHECK(first_url(flags) == "redis://f:6379/4");
}

TEST_CASE("a config file that was named replaces the standard ones") {
  TempDir folder;
  write_file(folder / "mine", "url = redis://mine\n");
  const TestEnvironment environment{{{"RLOCK_CONFIG", folder / "mine"}}};
  environment.config("url = redis://standard\nprefix = x:\n");
  CHECK(first_url() == "redis://mine:6379");
  CHECK(resolve({}).prefix.empty());

  write_file(folder / "other", "url = redis://other\n");
  CHECK(first_url({.config = folder / "other"}) == "redis://other:6379");
}

TEST_CASE("an empty variable is an unset one") {
  const TestEnvironment environment{{{"RLOCK_URL", ""},
                                     {"REDIS_URL", ""},
                                     {"RLOCK_PREFIX", ""},
                                     {"RLOCK_CONFIG", ""},
                                     {"RLOCK_PASSWORD", ""}}};
  const Deployment deployment = resolve({});
  CHECK(deployment.targets.front().url() == "redis://127.0.0.1:6379");
  CHECK(deployment.targets.front().password.empty());
  CHECK_FALSE(deployment.named);
}

TEST_CASE("the defaults that the table of server settings names are those that count") {
  const TestEnvironment environment;
  const Deployment deployment = resolve({});
  CHECK(server_setting("connect-timeout").standard == exact(deployment.timeouts.connect));
  CHECK(server_setting("command-timeout").standard == exact(deployment.timeouts.command));
  CHECK(server_setting("history").standard == (deployment.history ? "yes" : "no"));
}

TEST_CASE("a config file that cannot be looked for is refused, because it may name another server") {
  const TestEnvironment environment;
  environment.obstruct();
  try {
    static_cast<void>(resolve({}));
    FAIL("was skipped");
  } catch (const Error& error) {
    CHECK(error.kind() == Error::config);
    CHECK(contains(error.what(), "/rlock/config': Too many levels of symbolic links"));
  }
}

TEST_CASE("a relative XDG_CONFIG_HOME counts as none") {
  const TempDir home;
  const TestEnvironment environment;
  const Variable relative{"XDG_CONFIG_HOME", "xdg"};
  const Variable user_home{"HOME", home.path()};
  for (const char* folder : {".config", ".config/rlock"})
    REQUIRE(::mkdir((home / folder).c_str(), 0700) == 0);
  write_file(home / ".config/rlock/config", "prefix = mine:\n");
  ::chmod((home / ".config/rlock/config").c_str(), 0600);
  CHECK(resolve({}).prefix == "mine:");
}

TEST_CASE("/dev/null is a config file that says nothing") {
  const TestEnvironment environment{{{"RLOCK_CONFIG", "/dev/null"}}};
  environment.config("url = redis://config\n");
  CHECK(first_url() == "redis://127.0.0.1:6379");
}

TEST_CASE("a nested rlock is sent to the same database of the private server") {
  const TestEnvironment environment;
  const Deployment second = resolve({.urls = {"local:"}, .db = 2});
  const std::string url = second.environment.front().second.value();
  CHECK(url.starts_with("unix:///"));
  CHECK(url.ends_with("/rlock/redis.sock?db=2"));
  CHECK(resolve({.urls = {"local:"}}).environment.front().second == "local:");
}

TEST_CASE("several servers in one variable are separated by blanks, newlines among them") {
  const TestEnvironment environment{{{"RLOCK_URL", " redis://a  redis://b\tredis://c\r\n"}}};
  CHECK(resolve({}).targets.size() == 3);
  CHECK(resolve({}).named);
}

TEST_CASE("a URL that cannot be read is refused with the variable it stood in") {
  const TestEnvironment environment{{{"RLOCK_URL", "http://u:CANARY@h"}}};
  try {
    static_cast<void>(resolve({}));
    FAIL("was taken");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(error.kind() == Error::usage);
    CHECK(text.starts_with("RLOCK_URL: "));
    CHECK_FALSE(contains(text, "CANARY"));
  }
}

TEST_CASE("passwords come from where the manual says, in its order") {
  TempDir folder;
  write_file(folder / "flag", "from-flag\n");
  write_file(folder / "env", "from-env-file\n");
  write_file(folder / "config", "from-config-file\n");
  const TestEnvironment environment{{{"REDISCLI_AUTH", "from-redis-cli"}}};
  CHECK(password() == "from-redis-cli");
  ::setenv("VALKEYCLI_AUTH", "from-valkey-cli", 1);
  CHECK(password() == "from-valkey-cli");
  environment.config("password-file = " + (folder / "config") + "\n");
  CHECK(password() == "from-config-file");
  ::setenv("RLOCK_PASSWORD", "from-env", 1);
  CHECK(password() == "from-env");
  ::setenv("RLOCK_PASSWORD_FILE", (folder / "env").c_str(), 1);
  CHECK(password() == "from-env-file");
  CHECK(password({.password_file = folder / "flag"}) == "from-flag");
  CHECK(password({.urls = {"redis://:from-url@h"}, .password_file = folder / "flag"}) == "from-url");
}

TEST_CASE("a nested rlock is sent to the same server, without the password") {
  TempDir folder;
  write_file(folder / "secret", "CANARY\n");
  const TestEnvironment environment;
  const Deployment deployment = resolve({.urls = {"redis://alice:CANARY@h/1", "unix:///run/r.sock"},
                                         .password_file = folder / "secret",
                                         .prefix = "app:",
                                         .db = 5});
  const std::map<std::string, std::optional<std::string>> told{deployment.environment.begin(),
                                                               deployment.environment.end()};
  CHECK(told.at("RLOCK_URL") == "redis://alice@h:6379/5 unix:///run/r.sock?db=5");
  CHECK(told.at("RLOCK_PASSWORD_FILE") == folder / "secret");
  CHECK(told.at("RLOCK_PREFIX") == "app:");

  const Deployment plain = resolve({.urls = {"redis://h"}});
  const std::map<std::string, std::optional<std::string>> bare{plain.environment.begin(),
                                                               plain.environment.end()};
  CHECK(bare.at("RLOCK_PASSWORD_FILE") == std::nullopt);
  CHECK(bare.at("RLOCK_PREFIX") == std::nullopt);
}

TEST_CASE("a URL with database 0 overrules the config file, and so does a nested rlock's URL") {
  const TestEnvironment environment;
  environment.config("db = 7\n");
  const auto database = [](const ServerOptions& flags) { return resolve(flags).targets.front().db; };
  CHECK(database({.urls = {"redis://h"}}) == 7);
  CHECK(database({.urls = {"redis://h/0"}}) == 0);
  CHECK(database({.urls = {"unix:///run/r.sock?db=0"}}) == 0);
  CHECK(database({.urls = {"redis+sentinel://h/main/0"}}) == 0);
  CHECK(database({.urls = {"redis://h/3"}, .db = 0}) == 0);

  for (const ServerOptions& flags :
       {ServerOptions{.urls = {"redis://h"}, .db = 0}, ServerOptions{.urls = {"redis://h/0"}}})
    CHECK(database({.urls = {resolve(flags).environment.front().second.value()}}) == 0);
}

TEST_CASE("TLS options reach the servers that speak TLS") {
  const TestEnvironment environment;
  environment.config("cacert = /etc/ca.pem\n");
  CHECK(resolve({.urls = {"rediss://h"}}).targets.front().tls.cacert == "/etc/ca.pem");
  CHECK(resolve({.urls = {"redis://h"}}).targets.front().tls.cacert.empty());
  const Deployment forced = resolve({.urls = {"redis://h"}, .tls = true, .insecure = true});
  CHECK(forced.targets.front().tls.on);
  CHECK(forced.targets.front().tls.insecure);
}

TEST_CASE(
    "among several servers one cluster is enough to keep two slots apart, and to announce to its shards") {
  for (const char* order : {"redis://a redis+cluster://b", "redis+cluster://b redis://a"}) {
    CAPTURE(std::string{order});
    const Deployment deployment = resolve({.urls = split(order, ' ')});
    CHECK(deployment.pub_sub() == PubSub::sharded_too);
    CHECK_FALSE(deployment.lie_together({LockName{"a"}, LockName{"b"}}));
    CHECK(deployment.lie_together({LockName{"{x}a"}, LockName{"{x}b"}}));
  }
}
