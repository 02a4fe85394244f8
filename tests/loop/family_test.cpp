// The family of a script: who belongs to it, and that nobody of it gets away between a look and a signal.

#include "loop/family.h"

#include <doctest/doctest.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "base/ancestry.h"
#include "base/text.h"
#include "loop/processes.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/profile.h"
#include "support/skipped.h"
#include "support/unloaded_watch.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A shell script, and the family that it has for whoever keeps its lock.
class Scripted {
 public:
  explicit Scripted(const std::string& text, bool own_session = false) {
    Process::Options options{.env = {{"SAID", folder_ / "said"}}, .own_session = own_session};
    process_.emplace(Words{"bash", "-c", text}, options);
    if (own_session) REQUIRE(eventually([&] { return ::getsid(process_->pid()) == process_->pid(); }));
    // It is bash now, or what bash has executed since.
    const std::string ours = proc_text(::getpid(), "comm");
    REQUIRE(eventually([&] { return proc_text(process_->pid(), "comm") != ours; }));
    const auto id = process_of(process_->pid());
    REQUIRE(id.has_value());
    family_.emplace(Family::of_script(*id, 0));
  }

  Process& process() { return *process_; }
  Family& family() { return *family_; }
  bool ready() const { return read_file(folder_ / "said").find("ready") != std::string::npos; }

  void let_go() const { write_file(folder_ / "said.go", ""); }

  /// The process that the script calls by this name: a line "NAME PID".
  pid_t named(const std::string& name) const {
    for (const std::string& line : split(read_file(folder_ / "said"), '\n'))
      if (line.starts_with(name + " ")) return std::stoi(line.substr(name.size() + 1));
    return 0;
  }

 private:
  TempDir folder_;
  std::optional<Process> process_;
  std::optional<Family> family_;
};

bool gone(pid_t pid) {
  return eventually([&] { return !alive(pid); });
}

/// Nobody has the file open under a lock.
bool nobody_locks(const std::string& file) {
  return output_of({"sh", "-c", "flock -n -x '" + file + "' echo free || echo taken"}) == "free\n";
}

}  // namespace

TEST_CASE("nobody whom a script starts gets away while it is signalled, however fast it forks") {
  for (const int number : {SIGTERM, SIGKILL}) {
    for (int round = 0; round < 8; ++round) {
      CAPTURE(number);
      TempDir folder;
      const std::string witness = folder / "witness";
      write_file(witness, "");
      Scripted script{"echo ready >$SAID; while :; do (exec 9>>" + witness +
                      "; flock -s 9; exec sleep 30) & done"};
      REQUIRE(eventually([&] { return script.ready() && !nobody_locks(witness); }));

      CHECK(script.family().signal(number).empty());
      // bash may lose a TERM between fork and exec, and on a busy machine one look at all takes longer than a freeze
      // may last: what counts is that nobody is beyond the next signals.
      CHECK(eventually([&] {
        if (script.family().all().empty()) return true;
        script.family().signal(SIGKILL);
        return false;
      }));
      CHECK(nobody_locks(witness));
      CHECK_FALSE(script.process().running());
    }
  }
}

TEST_CASE("beside thousands of processes the last one of a script gets KILL a moment after the first") {
  const int others = long_profile() ? 2700 : 500, members = long_profile() ? 300 : 100;
  const auto sleepers = [](int count) {
    return "for i in $(seq " + std::to_string(count) + "); do sleep 600 & done; echo ready >>$SAID; wait";
  };
  Scripted stranger{sleepers(others)};
  Scripted script{sleepers(members)};
  REQUIRE(eventually([&] { return stranger.ready() && script.ready(); }, 60s));
  REQUIRE(script.family().all().size() == static_cast<std::size_t>(members) + 1);

  const UnloadedWatch watch{{::getpid()}};
  CHECK(script.family().signal(SIGKILL).empty());
  const auto took = watch.elapsed();
  MESSAGE("all of " << members << " beside " << others << " had KILL after " << took.count() << " ms");
  CHECK(took <= (long_profile() ? 50ms : 200ms));
  CHECK(eventually([&] { return script.family().all().empty(); }, 10s));
  CHECK(stranger.family().all().size() == static_cast<std::size_t>(others) + 1);
}

TEST_CASE("whoever was seen as a descendant belongs to the script, whatever its parent is now") {
  Scripted script{
      "(setsid sleep 60 & echo child $! >>$SAID; until [ -e $SAID.go ]; do sleep 0.01; done); echo ready >>$SAID; exec sleep 61"};
  REQUIRE(eventually([&] { return script.named("child") > 0; }));
  const pid_t child = script.named("child");
  REQUIRE(eventually([&] { return ::getsid(child) == child; }));

  script.family().look();
  script.let_go();
  REQUIRE(eventually([&] { return script.ready(); }));
  REQUIRE(facts_of(child)->parent != script.process().pid());
  script.process().signal(SIGKILL);
  REQUIRE(script.process().exit_code() == 128 + SIGKILL);

  CHECK(script.family().all() == std::vector{child});
  CHECK_FALSE(script.family().surely_gone());
  script.family().signal(SIGKILL);
  CHECK(gone(child));
  CHECK(eventually([&] { return script.family().surely_gone(); }));
}

TEST_CASE("whoever was forked from the script belongs to it while it runs the same program, whoever saw it") {
  if (stack_of(::getpid()) == 0)
    return skipped("the addresses of processes are not random here, or not shown");
  Scripted script{
      "until [ -e $SAID.go ]; do sleep 0.01; done; ( (echo child $BASHPID >>$SAID; while :; do sleep 0.05; done) & ); "
      "echo ready >>$SAID; sleep 60; :"};
  script.let_go();  // the family has looked: it sees nobody of what comes now
  REQUIRE(eventually([&] { return script.ready() && script.named("child") > 0; }));
  const pid_t child = script.named("child");
  REQUIRE(facts_of(child)->parent != script.process().pid());

  script.family().signal(SIGKILL);

  CHECK(gone(child));
  CHECK(eventually([&] { return script.family().surely_gone(); }));
}

TEST_CASE("a subshell that holds a lock shares its program with its siblings: they do not belong to it") {
  TempDir folder;
  const std::string said = folder / "said";
  Process shell{{"bash", "-c",
                 "for name in one two; do (echo $name $BASHPID >>" + said +
                     "; while :; do sleep 0.05; done) & done; wait"}};
  const auto named = [&](const std::string& name) -> pid_t {
    for (const std::string& line : split(read_file(said), '\n'))
      if (line.starts_with(name + " ")) return std::stoi(line.substr(name.size() + 1));
    return 0;
  };
  REQUIRE(eventually([&] { return named("one") > 0 && named("two") > 0; }));
  Family family = Family::of_script(*process_of(named("one")), 0);

  family.signal(SIGKILL);

  CHECK(eventually([&] { return family.all().empty(); }));
  CHECK(alive(named("two")));
  CHECK(shell.running());
}

TEST_CASE("members of the session that a script leads belong to it, though nobody saw them before") {
  for (const int number : {SIGTERM, SIGKILL}) {
    CAPTURE(number);
    Scripted script{"(sleep 60 & echo child $! >>$SAID); echo ready >>$SAID; exec sleep 61", true};
    REQUIRE(eventually([&] { return script.ready(); }));
    const pid_t child = script.named("child");

    CHECK(script.family().signal(number).empty());

    CHECK(gone(child));
    CHECK(eventually([&] { return script.family().surely_gone(); }));
  }
}

TEST_CASE("an orphan beside the script that nobody has seen is spared, and nothing is released beside it") {
  // The group belongs to the shell above the script, as that of `make -j` does.
  TempDir folder;
  Process group{
      {"bash", "-c",
       "bash -c '(until [ -e " + (folder / "go") + " ]; do sleep 0.02; done; (sleep 60 & echo $! >" +
           (folder / "orphan") + ")); exec sleep 61' & echo $! >" + (folder / "script") + "; wait; sleep 62"},
      {.own_session = true}};
  REQUIRE(eventually([&] { return read_file(folder / "script").ends_with('\n'); }));
  Family family = Family::of_script(*process_of(std::stoi(read_file(folder / "script"))), 0);
  write_file(folder / "go", "");  // the family has looked: it sees nobody of what comes now
  REQUIRE(eventually([&] { return read_file(folder / "orphan").ends_with('\n'); }));
  const pid_t orphan = std::stoi(read_file(folder / "orphan"));
  REQUIRE(eventually(
      [&] { return proc_text(orphan, "comm") == "sleep\n"; }));  // another program than the script's

  family.signal(SIGKILL);

  REQUIRE(eventually([&] { return family.all().empty(); }));
  CHECK(alive(orphan));
  CHECK(group.running());
  CHECK_FALSE(family.surely_gone());
  ::kill(orphan, SIGKILL);
  CHECK(eventually([&] { return family.surely_gone(); }));
}

TEST_CASE("the other half of a pipeline, which the shell has started, is no part of the script") {
  TempDir folder;
  Process shell{{"bash", "-c",
                 "set -m; bash -c 'echo $$ >" + (folder / "script") + "; exec sleep 60' | sh -c 'echo $$ >" +
                     (folder / "other") + "; cat; sleep 0.1'"},
                {.own_session = true}};
  REQUIRE(eventually([&] {
    return read_file(folder / "script").ends_with('\n') && read_file(folder / "other").ends_with('\n');
  }));
  const pid_t script = std::stoi(read_file(folder / "script")),
              other = std::stoi(read_file(folder / "other"));
  REQUIRE(::getpgid(other) == script);
  Family family = Family::of_script(*process_of(script), 0);

  CHECK(family.all() == std::vector{script});
  family.signal(SIGKILL);
  CHECK(shell.exit_code() == 0);  // that of the other half, which has seen the end of the pipe
}

TEST_CASE("a signal leaves those who stood still as they were, and all others run on") {
  Scripted script{
      "trap 'echo term >>$SAID' TERM; sleep 60 & echo still $! >>$SAID; kill -STOP $!; "
      "echo ready >>$SAID; while :; do sleep 0.02; done"};
  REQUIRE(eventually([&] { return script.ready() && state_of(script.named("still")) == 'T'; }));

  script.family().signal(SIGUSR2);  // ends whoever runs, and bash has no trap for it
  CHECK(script.process().exit_code() == 128 + SIGUSR2);
  CHECK(state_of(script.named("still")) == 'T');

  script.family().signal(SIGCONT);
  CHECK(gone(script.named("still")));
}

TEST_CASE("a script that was stopped, and one that is traced, are signalled, too") {
  Scripted stopped{"trap 'echo term >>$SAID; exit 3' TERM; echo ready >>$SAID; kill -STOP $$; sleep 60"};
  REQUIRE(eventually([&] { return stopped.ready() && state_of(stopped.process().pid()) == 'T'; }));
  stopped.family().signal(SIGTERM);
  stopped.family().signal(SIGCONT);
  CHECK(stopped.process().exit_code() == 3);

  Scripted traced{"echo ready >>$SAID; while :; do sleep 60 & sleep 0.01; done"};
  REQUIRE(eventually([&] { return traced.ready(); }));
  const pid_t script = traced.process().pid();
  const pid_t tracer = ::fork();
  if (tracer == 0) {  // keeps it in each of its stops, as a debugger does
    if (::ptrace(PTRACE_SEIZE, script, 0, 0) != 0) ::_exit(1);
    for (;;) ::pause();
  }
  const bool seized = eventually([&] {
    return read_file("/proc/" + std::to_string(script) + "/status")
               .find("TracerPid:\t" + std::to_string(tracer)) != std::string::npos;
  });
  traced.family().signal(SIGTERM);
  traced.family().signal(SIGKILL);
  CHECK(eventually([&] { return traced.family().all().empty(); }));
  ::kill(tracer, SIGKILL);  // until then its end is the tracer's to know
  ::waitpid(tracer, nullptr, 0);
  CHECK(traced.process().exit_code() == 128 + SIGKILL);
  CHECK(seized);
}

TEST_CASE("the shell of a job does not see it stop, and all that the job starts without end is told to end") {
  TempDir folder;
  const std::string witness = folder / "witness";
  write_file(witness, "");
  // As an interactive shell: the script leads a group, and its end is all that may be told.
  Process shell{
      {"perl", "-MPOSIX=:sys_wait_h", "-e",
       "$c = fork; if (!$c) { setpgrp 0, 0; exec 'bash', '-c', shift }"
       "while (waitpid($c, WUNTRACED) > 0) { exit 9 if WIFSTOPPED(${^CHILD_ERROR_NATIVE}); last } exit 7",
       "echo $$ >" + (folder / "script") + "; while :; do (exec 9>>" + witness +
           "; flock -s 9; exec sleep 30) & done"}};
  REQUIRE(eventually([&] { return read_file(folder / "script").ends_with('\n') && !nobody_locks(witness); }));
  Family family = Family::of_script(*process_of(std::stoi(read_file(folder / "script"))), 0);

  family.signal(SIGTERM);

  CHECK(shell.exit_code() == 7);
  family.signal(SIGKILL);  // bash may lose a TERM between fork and exec
  CHECK(eventually([&] { return family.surely_gone(); }));
  CHECK(nobody_locks(witness));
}

TEST_CASE("what stops because the script stands still goes on again") {
  // As sudo does: it stops when its child has stopped.
  TempDir folder;
  Process above{{"perl", "-MPOSIX=:sys_wait_h", "-e",
                 "$c = fork; if (!$c) { exec 'sleep', '60' } open F, '>', shift; print F \"$c\\n\"; close F;"
                 "while (waitpid($c, WUNTRACED) > 0) { last if !WIFSTOPPED(${^CHILD_ERROR_NATIVE});"
                 "kill 'STOP', $$ } exit 7",
                 folder / "script"},
                {.own_session = true}};
  REQUIRE(eventually([&] { return read_file(folder / "script").ends_with('\n'); }));
  const pid_t script = std::stoi(read_file(folder / "script"));
  REQUIRE(eventually([&] { return read_file("/proc/" + std::to_string(script) + "/comm") == "sleep\n"; }));
  Family family = Family::of_script(*process_of(script), 0);

  ::kill(script, SIGSTOP);
  REQUIRE(eventually([&] { return state_of(above.pid()) == 'T'; }));
  ::kill(above.pid(), SIGCONT);
  ::kill(script, SIGCONT);
  REQUIRE(eventually([&] { return state_of(above.pid()) == 'S' && state_of(script) == 'S'; }));
  family.signal(SIGTERM);

  // It may have noticed the freeze, or not.
  CHECK(eventually([&] { return family.all().empty() && !above.running(); }));
  CHECK(above.exit_code() == 7);
}

TEST_CASE("the number of an ended script may be a stranger's") {
  Process stranger{{"sleep", "60"}, {.own_session = true}};
  ProcessId other{stranger.pid(), 1};
  Family family = Family::of_script(other, 0);

  CHECK_FALSE(family.script_lives());
  CHECK(family.all().empty());
  family.signal(SIGKILL);
  CHECK(throughout([&] { return stranger.running(); }, 50ms));
}

TEST_CASE("/proc tells who is whose child, with or without lists of children") {
  Process parent{{"sh", "-c", "sleep 60 & sleep 61 & wait"}};
  const auto children = [&] { return Parentage{}.children_of(*facts_of(parent.pid())); };
  REQUIRE(eventually([&] { return children().size() == 2; }));
  for (const pid_t child : children()) {
    CHECK(facts_of(child)->parent == parent.pid());
    CHECK(facts_of(child)->started >= facts_of(parent.pid())->started);
    CHECK(facts_of(child)->alive());
  }
  CHECK_FALSE(facts_of(0).has_value());
}
