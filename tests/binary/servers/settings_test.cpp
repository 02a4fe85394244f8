// The sources of settings, as the binary finds them: a terminal for a password, the files of the machine and
// of the user.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <optional>

#include "support/cli.h"
#include "support/contains.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock::test;

namespace {

/// Runs `script` with an /etc of its own, so that it can write /etc/rlock. Empty: this machine does not permit that.
std::optional<Process> in_own_etc(const std::string& script, Process::Options options) {
  Process may{{"unshare", "-rm", "mount", "-t", "tmpfs", "none", "/etc"}};
  if (may.exit_code() != 0) return std::nullopt;
  options.env["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin";
  options.env["RLOCK"] = rlock_binary();
  const std::string all = "set -e\nmount -t tmpfs none /etc\nmkdir -m 755 /etc/rlock\n" + script;
  return std::make_optional<Process>(Words{"unshare", "-rm", "sh", "-c", all}, options);
}

/// A server with the password CANARY, and an environment for scripts that ask for it.
struct WithPassword {
  RedisServer redis{{.config = {"requirepass CANARY"}}};
  Process::Options options = Rlock::clean_environment();

  WithPassword() {
    options.env["RLOCK_URL"] = redis.url();
    options.env["RLOCK"] = rlock_binary();
    options.directory = redis.directory();
  }
};

}  // namespace

TEST_CASE("--askpass asks on the terminal, hides the typed password, and uses it") {
  WithPassword server;
  Process::Options& options = server.options;
  {
    Pty pty{{rlock_binary(), "run", "--askpass", "-k", "k", "--", "echo", "it ran"}, options};
    pty.expect("Password: ");
    pty.type("CANARY\r");
    pty.expect("it ran");
    CHECK(pty.exit_code() == 0);
    CHECK_FALSE(contains(pty.screen(), "CANARY"));
  }
  {
    Pty pty{{rlock_binary(), "inspect", "--askpass", "k"}, options};
    pty.expect("Password: ");
    pty.type("wrong\r");
    CHECK(pty.exit_code() == 77);
    CHECK_FALSE(contains(pty.screen(), "wrong\r\n"));
  }
  {
    // When the user interrupts the question, the terminal gets its old settings back.
    Pty pty{
        {"sh", "-c",
         "trap : INT; stty -g > before; \"$RLOCK\" inspect --askpass k; stty -g > after; cmp before after"},
        options};
    pty.expect("Password: ");
    pty.type(Pty::kInterrupt);
    CHECK(pty.exit_code() == 0);
  }
  {
    // The same holds if another process ends the question with a signal.
    Pty pty{
        {"sh", "-c",
         "trap : TERM; stty -g > before; \"$RLOCK\" inspect --askpass k; stty -g > after; cmp before after"},
        options};
    pty.expect("Password: ");
    ::kill(-pty.pid(), SIGTERM);
    CHECK(pty.exit_code() == 0);
  }
  {
    // A signal that is ignored, as with nohup, ends no question.
    Pty pty{{"sh", "-c", "trap '' TERM; exec \"$RLOCK\" inspect --askpass k"}, options};
    pty.expect("Password: ");
    ::kill(pty.pid(), SIGTERM);
    pty.type("CANARY\r");
    CHECK(pty.exit_code() == 0);
  }
  options.own_session = true;
  CHECK(Rlock{{"inspect", "--askpass", "k"}, options}.exit_code() == 64);
}

TEST_CASE("what is typed for --askpass stays hidden when rlock was stopped and goes on") {
  const WithPassword server;
  const Process::Options& options = server.options;
  for (const bool pressed : {true, false}) {
    CAPTURE(pressed);
    // Like bash, this script sets the terminal as it was, and then continues its job.
    Pty pty{{"sh", "-c",
             "set -m; before=$(stty -g); \"$RLOCK\" inspect --askpass k; stty -a | grep -ow -e '-\\?echo'\n"
             "stty $before; fg >/dev/null"},
            options};
    pty.expect("Password: ");
    if (pressed) {
      pty.type(Pty::kSuspend);
      pty.expect("\r\necho");  // the terminal was restored before the stop
    } else {
      ::kill(-pty.foreground(), SIGSTOP);
      pty.expect("-echo");  // nobody can do anything before this signal
    }
    pty.expect("Password: ");
    pty.type("CANARY\r");
    CHECK(pty.exit_code() == 0);
    CHECK_FALSE(contains(pty.screen(), "CANARY"));
  }
}

TEST_CASE("a question that was stopped ends by TERM, although it is not in the foreground") {
  const WithPassword server;
  const Process::Options& options = server.options;
  for (const bool before_the_question : {true, false}) {
    CAPTURE(before_the_question);
    const std::string begin =
        before_the_question ? "\"$RLOCK\" inspect --askpass k &\n" : "\"$RLOCK\" inspect --askpass k\n";
    Pty pty{{"bash", "-c",
             "set -m\n" + begin +
                 "until jobs | grep -q Stopped; do sleep 0.01; done; echo stopped; job=$(jobs -p)\n"
                 "kill -- -$job; kill -CONT -- -$job\n"
                 "while kill -0 -- -$job 2>/dev/null; do sleep 0.01; done; echo gone"},
            options};
    if (!before_the_question) {
      pty.expect("Password: ");
      pty.type(Pty::kSuspend);
    }
    pty.expect("stopped");
    pty.expect("gone");
    CHECK(pty.exit_code() == 0);
  }
}

TEST_CASE("the user's config file beats that of the machine, name by name, and both beat REDIS_URL") {
  RedisServer redis;
  TempDir home;
  Process::Options options = Rlock::clean_environment();
  options.env["HOME"] = home.path();
  options.env["REDIS_URL"] = "unix:///nonexistent/redis.sock";
  const std::string machine =
      "printf 'url = " + redis.url() + "\\nprefix = machine:\\n' > /etc/rlock/config\n";
  const std::string take = "exec \"$RLOCK\" lock acquire -n k --lease 1m >/dev/null";

  auto by_machine = in_own_etc(machine + take, options);
  if (!by_machine) return skipped("no mount namespace for an /etc of our own");
  CHECK_MESSAGE(by_machine->exit_code() == 0, by_machine->err());
  CHECK(redis.has("machine:k"));

  REQUIRE(::mkdir((home / ".config").c_str(), 0700) == 0);
  REQUIRE(::mkdir((home / ".config/rlock").c_str(), 0700) == 0);
  write_file(home / ".config/rlock/config", "prefix = user:\n");
  auto by_user = in_own_etc(machine + take, options);
  CHECK(by_user->exit_code() == 0);
  CHECK(redis.has("user:k"));

  write_file(home / "named", "prefix = named:\nurl = " + redis.url() + "\n");
  options.env["RLOCK_CONFIG"] = home / "named";
  auto by_name = in_own_etc("echo nonsense > /etc/rlock/config\n" + take, options);
  CHECK(by_name->exit_code() == 0);
  CHECK(redis.has("named:k"));

  options.env.erase("RLOCK_CONFIG");
  auto junk = in_own_etc("echo nonsense > /etc/rlock/config\n" + take, options);
  CHECK(junk->exit_code() == 78);
  CHECK(contains(junk->err(), "/etc/rlock/config"));
}
