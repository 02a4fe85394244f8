#include "process/child.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "loop/signals.h"
#include "process/program.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/forked.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A child process, with the loop and the signals that watch it.
struct Run {
  Loop loop{};
  Signals signals{loop};
  Child child;

  explicit Run(std::vector<std::string> argv, Variables variables = {}, std::string found = {})
      : child(loop, signals, {std::move(argv), std::move(variables), std::move(found)}, [](pid_t) {}) {}

  /// Turns the loop until `fact` is true or 10 s have passed; true: `fact` came true in time.
  template <class Fact>
  bool until(Fact&& fact) {
    const TimePoint deadline = plus(Clock::now(), Milliseconds{10000});
    while (!fact()) {
      if (Clock::now() >= deadline) return false;
      loop.turn(deadline);
    }
    return true;
  }
  int end() {
    until([&] { return child.ended(); });
    return child.reap();
  }
};

/// The output of a shell line that runs as a child with `variables`.
std::string printed(const std::string& line, const Variables& variables = {}) {
  TempDir folder;
  CHECK(status_of([&] {
          Run run{{"/bin/sh", "-c", "exec >" + (folder / "out") + "; " + line}, variables};
          return exit_code_of(run.end());
        }) == 0);
  return read_file(folder / "out");
}

}  // namespace

TEST_CASE("a child ends with its status or its signal, as a shell would say") {
  CHECK(status_of([] { return exit_code_of(Run{{"sh", "-c", "exit 7"}}.end()); }) == 7);
  CHECK(status_of([] {
          const int status = Run{{"sh", "-c", "kill -TERM $$"}}.end();
          return signal_of(status) == SIGTERM ? exit_code_of(status) : 1;
        }) == 128 + SIGTERM);
}

TEST_CASE("a child runs in a group of its own, which is signalled as a whole") {
  CHECK(status_of([] {
          Run run{{"sh", "-c", "sleep 60 & sleep 60"}};
          if (::getpgid(run.child.pid()) != run.child.pid()) return 1;
          run.child.signal(SIGKILL);
          run.until([&] { return run.child.ended(); });
          if (::getpgid(run.child.pid()) != run.child.pid())
            return 2;  // its process group keeps its number until the child is reaped
          run.child.reap();
          return eventually([&] { return ::kill(-run.child.pid(), 0) != 0 || !alive(run.child.pid()); }) ? 0
                                                                                                         : 3;
        }) == 0);
}

TEST_CASE("if a program cannot be executed, its errno is reported, and no process is left") {
  const auto error_of = [](const std::string& program) {
    return status_of([&] {
      Run run{{program}};
      return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? run.child.start_errno() : 255;
    });
  };
  TempDir folder;
  write_file(folder / "no_shebang", "exit 0\n");
  ::chmod((folder / "no_shebang").c_str(), 0755);
  write_file(folder / "lost_interpreter", "#!/nowhere/at/all\n");
  ::chmod((folder / "lost_interpreter").c_str(), 0755);

  CHECK(error_of("/nope") == ENOENT);
  CHECK(error_of("rlock-no-such-program") == ENOENT);
  CHECK(error_of("/etc/passwd") == EACCES);
  CHECK(error_of("/") == EACCES);
  CHECK(error_of(folder / "no_shebang") == ENOEXEC);
  CHECK(error_of(folder / "lost_interpreter") == ENOENT);
}

TEST_CASE("if the arguments are too long, the errno is reported, too") {
  CHECK(status_of([] { return Run{{"/bin/true", std::string(1 << 20, 'x')}}.child.start_errno(); }) == E2BIG);
}

TEST_CASE("each stop is reported once, with its signal") {
  CHECK(status_of([] {
          Run run{{"sleep", "60"}};
          run.child.signal(SIGTSTP);
          std::optional<int> stop;
          run.until([&] { return (stop = run.child.take_stop()).has_value(); });
          if (stop != SIGTSTP || run.child.take_stop() || !run.child.stopped()) return 1;
          run.child.signal(SIGCONT);
          if (!run.until([&] { return !run.child.stopped(); })) return 2;
          run.child.signal(SIGKILL);
          return signal_of(run.end()) == SIGKILL ? 0 : 3;
        }) == 0);
}

TEST_CASE("an ended child keeps its pid until it is reaped, and gets no signal afterwards") {
  CHECK(status_of([] {
          Run run{{"true"}};
          const pid_t pid = run.child.pid();
          run.until([&] { return run.child.ended(); });
          if (state_of(pid) != 'Z' || run.child.signal(SIGTERM) != 0) return 1;
          run.child.reap();
          return state_of(pid) != 'Z' && run.child.signal(SIGTERM) == ESRCH ? 0 : 2;
        }) == 0);
}

TEST_CASE("the end of an earlier child of this process is not taken for the command's end") {
  CHECK(status_of([] {
          if (::fork() == 0) ::_exit(5);
          return exit_code_of(Run{{"sh", "-c", "sleep 0.1; exit 3"}}.end());
        }) == 3);
}

TEST_CASE("rlock gets the exit status although its parent ignored SIGCHLD") {
  CHECK(status_of([] {
          ::signal(SIGCHLD, SIG_IGN);
          return exit_code_of(Run{{"sh", "-c", "exit 3"}}.end());
        }) == 3);
}

TEST_CASE("a child dies with us") {
  TempDir folder;
  in_another_process([&] {
    Run run{{"sleep", "60"}};
    write_file(folder / "pid", std::to_string(run.child.pid()));
    return 0;  // ends without stopping the child
  });
  const pid_t child = std::stoi(read_file(folder / "pid"));

  CHECK(eventually([&] { return !alive(child); }));
}

TEST_CASE("the environment changes by exactly the given variables") {
  ::setenv("RLOCK_TEST_KEPT", "kept\nin two lines", 1);
  ::setenv("RLOCK_TEST_LOST", "x", 1);
  ::setenv("RLOCK_TEST_CHANGED", "before", 1);

  const auto env =
      printed("env | grep -A1 ^RLOCK_TEST_ | sort",
              {{"RLOCK_TEST_LOST", std::nullopt}, {"RLOCK_TEST_CHANGED", "after"}, {"RLOCK_TEST_NEW", ""}});

  CHECK(contains(env, "RLOCK_TEST_KEPT=kept"));
  CHECK(contains(env, "in two lines"));
  CHECK_FALSE(contains(env, "RLOCK_TEST_LOST"));
  CHECK(contains(env, "RLOCK_TEST_CHANGED=after"));
  CHECK_FALSE(contains(env, "before"));
  CHECK(contains(env, "RLOCK_TEST_NEW=\n"));
  for (const char* name : {"RLOCK_TEST_KEPT", "RLOCK_TEST_LOST", "RLOCK_TEST_CHANGED"}) ::unsetenv(name);
}

TEST_CASE("variables that systemd set for rlock are set for the command") {
  TempDir folder;
  CHECK(status_of([&] {
          ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
          ::setenv("WATCHDOG_PID", "1", 1);  // meant for another process
          return exit_code_of(Run{{"sh", "-c", "[ $LISTEN_PID = $$ ] && [ $WATCHDOG_PID = 1 ]"}}.end());
        }) == 0);
}

TEST_CASE("a program is looked up as a shell would") {
  TempDir folder;
  write_file(folder / "plain", "");
  write_file(folder / "tool", "");
  ::chmod((folder / "tool").c_str(), 0755);
  const std::string& here = folder.path();

  CHECK(find_program("tool", "/nowhere:" + here).path == folder / "tool");
  CHECK(find_program("plain", here).error == EACCES);
  CHECK(find_program("nothing", here).error == ENOENT);
  CHECK(find_program("a/path", here).path == "a/path");
  CHECK(find_program("", here).error == ENOENT);
}

TEST_CASE("a program that PATH had is run from there; when it is gone, PATH is searched again") {
  TempDir folder;
  write_file(folder / "sh", "#!/bin/sh\nexit 9\n");
  ::chmod((folder / "sh").c_str(), 0755);
  const auto run = [&] {
    return status_of([&] { return exit_code_of(Run{{"sh", "-c", "exit 4"}, {}, folder / "sh"}.end()); });
  };

  CHECK(run() == 9);
  ::chmod((folder / "sh").c_str(), 0644);
  CHECK(run() == 4);
  ::unlink((folder / "sh").c_str());
  CHECK(run() == 4);
}
