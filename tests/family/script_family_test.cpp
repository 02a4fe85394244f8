// The family of a script: which processes belong to it, and that none of them escapes between a look and a
// signal.

#include "family/script_family.h"

#include <doctest/doctest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ancestry.h"
#include "base/text.h"
#include "family/descendants.h"
#include "family/script_members.h"
#include "process/processes.h"
#include "process/script_tag.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/forked.h"
#include "support/process.h"
#include "support/profile.h"
#include "support/skipped.h"
#include "support/unloaded_watch.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A shell script, and its family as the keeper of its lock sees it.
class Scripted {
 public:
  explicit Scripted(const std::string& text, bool own_session = false) {
    Process::Options options{.env = {{"SAID", folder_ / "said"}}, .own_session = own_session};
    process_.emplace(Words{"bash", "-c", text}, options);
    if (own_session) REQUIRE(eventually([&] { return ::getsid(process_->pid()) == process_->pid(); }));
    // The process runs bash by now, or the program that bash has executed since.
    const std::string ours = *proc_text(::getpid(), "comm");
    REQUIRE(eventually([&] { return proc_text(process_->pid(), "comm") != ours; }));
    const auto id = process_of(process_->pid());
    REQUIRE(id.has_value());
    family_.emplace(*id, 0);
    write_file(folder_ / "said.tagged", "");
  }

  Process& process() { return *process_; }
  ScriptFamily& family() { return *family_; }
  bool ready() const { return contains(read_file(folder_ / "said"), "ready"); }

  void let_go() const { write_file(folder_ / "said.go", ""); }
  void more() const { write_file(folder_ / "said.more", ""); }

  /// The process to which the script gave this name, in a line "NAME PID".
  pid_t named(const std::string& name) const {
    for (const std::string& line : split(read_file(folder_ / "said"), '\n'))
      if (line.starts_with(name + " ")) return std::stoi(line.substr(name.size() + 1));
    return 0;
  }

 private:
  TempDir folder_;
  std::optional<Process> process_;
  std::optional<ScriptFamily> family_;
};

/// True: no process has locked the file.
bool nobody_locks(const std::string& file) {
  return output_of({"sh", "-c", "flock -n -x '" + file + "' echo free || echo taken"}) == "free\n";
}

}  // namespace

TEST_CASE("no process of a script escapes while it is signalled, however fast the script forks") {
  for (const int number : {SIGTERM, SIGKILL}) {
    for (int round = 0; round < 8; ++round) {
      CAPTURE(number);
      TempDir folder;
      const std::string witness = folder / "witness";
      write_file(witness, "");
      Scripted script{"echo ready >$SAID; while :; do (exec 9>>" + witness +
                      "; flock -s 9; exec sleep 30) & done"};
      REQUIRE(eventually([&] { return script.ready() && !nobody_locks(witness); }));

      // A holder looks before it signals, too. By now a fork that was under way when the script was tagged has ended.
      script.family().look();
      CHECK(script.family().signal(number, Clock::now(), kNever).empty());
      // bash may lose a TERM between fork and exec, and on a busy machine a single look takes longer than a
      // freeze may last. So the test asks only that the next signals reach every process.
      CHECK(eventually([&] {
        if (script.family().all(Clock::now()).empty()) return true;
        script.family().signal(SIGKILL, Clock::now(), kNever);
        return false;
      }));
      CHECK(nobody_locks(witness));
      CHECK_FALSE(script.process().running());
    }
  }
}

TEST_CASE("orphans of orphans that end at once, and what they have started, are gone after a few signals") {
  for (int round = 0; round < 4; ++round) {
    TempDir folder;
    const std::string witness = folder / "witness";
    write_file(witness, "");
    write_file(folder / "run", "");
    // Each process starts two others and ends. The first executes sleep, and the second starts two others again.
    Scripted script{"until [ -e $SAID.go ]; do sleep 0.01; done; exec 9>>" + witness +
                    "; flock -s 9; go_on() { (exec sleep 33) & [ ! -e " + (folder / "run") +
                    " ] || go_on & exit; }; go_on & echo ready >>$SAID; sleep 60; :"};
    script.let_go();  // only now: an orphan from before the first look is not in the family
    REQUIRE(eventually([&] { return script.ready() && !nobody_locks(witness); }));
    ::usleep(100'000 * static_cast<useconds_t>(round));

    script.family().signal(SIGKILL, Clock::now(), kNever);

    CHECK(eventually([&] {
      if (script.family().all(Clock::now()).empty()) return true;
      script.family().signal(SIGKILL, Clock::now(), kNever);
      return false;
    }));
    CHECK(nobody_locks(witness));
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
  REQUIRE(script.family().all(Clock::now()).size() == static_cast<std::size_t>(members) + 1);

  const UnloadedWatch watch{{::getpid()}};
  CHECK(script.family().signal(SIGKILL, Clock::now(), kNever).empty());
  const auto took = watch.elapsed();
  MESSAGE("all of " << members << " beside " << others << " had KILL after " << took.count() << " ms");
  CHECK(took <= (long_profile() ? 50ms : 200ms));
  CHECK(eventually([&] { return script.family().all(Clock::now()).empty(); }, 10s));
  CHECK(stranger.family().all(Clock::now()).size() == static_cast<std::size_t>(others) + 1);
}

TEST_CASE("each process of a script gets the stop signal, even if KILL is due before all files are read") {
  Scripted script{"for i in $(seq 100); do sleep 600 & done; echo ready >>$SAID; wait"};
  REQUIRE(eventually([&] { return script.ready() && script.family().all(Clock::now()).size() == 101; }, 60s));
  // A holder looks before each signal, too: a child whose fork was under way when bash was tagged has no tag yet.
  script.family().look();
  const TimePoint now = Clock::now();
  CHECK(script.family().signal(SIGTERM, now, plus(now, 1ms)).empty());
  CHECK(eventually([&] { return script.family().all(Clock::now()).empty(); }, 10s));
}

TEST_CASE(
    "a look tags a process that was forked before the script was tagged, but none that has shed its tag") {
  Scripted script{
      "sleep 600 & echo child $! >>$SAID; sleep 600 & echo apart $! >>$SAID; echo ready >>$SAID; wait"};
  REQUIRE(eventually([&] { return script.ready(); }));
  const pid_t child = script.named("child"), apart = script.named("apart"), root = script.process().pid();
  const ScriptTag tag = tag_on(root);
  REQUIRE(tag != 0);
  REQUIRE(put_tag(child, RLIM_INFINITY));
  const ScriptTag shed = [] {
    const pid_t forked = ::fork();
    if (forked == 0) {
      shed_tag();
      ::pause();
    }
    REQUIRE(eventually([&] { return tag_on(forked) != 0; }));
    const ScriptTag found = tag_on(forked);
    ::kill(forked, SIGKILL);
    ::waitpid(forked, nullptr, 0);
    return found;
  }();
  REQUIRE(put_tag(apart, shed));

  script.family().look();

  CHECK(tag_on(child) == tag);
  CHECK(tag_on(apart) == shed);
}

TEST_CASE("without a free descriptor, a script does not count as ended, and no known process is forgotten") {
  Scripted script{"sleep 60 & echo child $! >>$SAID; echo ready >>$SAID; wait"};
  REQUIRE(eventually([&] { return script.ready(); }));
  const pid_t child = script.named("child");
  const auto id = process_of(script.process().pid());
  REQUIRE(id.has_value());
  const ScriptMembers members{*id, 0};
  Descendants seen{0};
  const auto found = [&](const std::vector<pid_t>& roots) {
    const auto always = [](const ProcessFacts&) { return true; };
    return seen.find(roots, always, [](const ProcessFacts&) {}).size();
  };
  REQUIRE(found({id->pid}) == 2);

  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const bool lives = members.script_lives();
  const std::size_t found_without = found({id->pid});
  const std::vector<pid_t> refused =
      script.family().signal(SIGKILL, Clock::now(), kNever);  // the script's first process only
  const bool gone_without = script.family().surely_gone(Clock::now());
  ::setrlimit(RLIMIT_NOFILE, &before);

  CHECK(lives);
  CHECK(found_without == 0);
  CHECK(refused.empty());
  CHECK_FALSE(gone_without);  // the child lives
  CHECK(gone(id->pid));
  CHECK(found({}) == 1);
  ::kill(child, SIGKILL);
}

TEST_CASE("a search for descendants that runs out of time forgets no known descendant") {
  Process process{{"sleep", "600"}};
  const auto any = [](const ProcessFacts&) { return true; };
  const auto none = [](const ProcessFacts&) {};
  Descendants seen{0};
  REQUIRE(seen.find({process.pid()}, any, none).size() == 1);
  CHECK(seen.find({process.pid()}, any, none, {}, TimePoint::min()).empty());
  CHECK(seen.find({}, any, none).size() == 1);
}

TEST_CASE("a search for descendants also finds the late roots that it asks for, and their children") {
  Process parent{{"sh", "-c", "sleep 600 & wait"}};
  const auto any = [](const ProcessFacts&) { return true; };
  const auto none = [](const ProcessFacts&) {};
  REQUIRE(eventually([&] { return Parentage{}.children_of(*facts_of(parent.pid())).size() == 1; }));
  Descendants seen{0};
  CHECK(seen.find({}, any, none, [&] { return std::vector{parent.pid()}; }).size() == 2);
}

TEST_CASE("a process that was seen as a descendant belongs to the script, even with another parent later") {
  // A script with a limit of its own cannot be tagged.
  for (const std::string limit : {"", "ulimit -x 1000; "}) {
    CAPTURE(limit);
    Scripted script{
        limit +
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

    CHECK(script.family().all(Clock::now()) == std::vector{child});
    CHECK_FALSE(script.family().surely_gone(Clock::now()));
    script.family().signal(SIGKILL, Clock::now(), kNever);
    CHECK(gone(child));
    CHECK(eventually([&] { return script.family().surely_gone(Clock::now()); }));
  }
}

TEST_CASE("every process that a script has started belongs to it, in any session and with any parent") {
  Scripted script{
      "until [ -e $SAID.go ]; do sleep 0.01; done; ( (echo child $BASHPID >>$SAID; exec setsid env -i sleep 60) & ); "
      "echo ready >>$SAID; sleep 60; :"};
  script.let_go();  // the family has looked already: it does not see the processes that start now
  REQUIRE(eventually([&] { return script.ready() && script.named("child") > 0; }));
  const pid_t child = script.named("child");
  REQUIRE(eventually([&] { return ::getsid(child) == child && proc_text(child, "comm") == "sleep\n"; }));
  REQUIRE(facts_of(child)->parent != script.process().pid());

  script.process().signal(SIGKILL);
  REQUIRE(script.process().exit_code() == 128 + SIGKILL);
  const std::vector<pid_t> left = script.family().all(Clock::now());
  CHECK(std::ranges::find(left, child) != left.end());
  CHECK_FALSE(script.family().surely_gone(Clock::now()));
  script.family().signal(SIGKILL, Clock::now(), kNever);

  CHECK(gone(child));
  CHECK(eventually([&] { return script.family().surely_gone(Clock::now()); }));
}

TEST_CASE("a script inside a script has a family of its own, which also belongs to the outer script") {
  Scripted outer{
      "bash -c 'echo inner $$ >>$SAID; until [ -e $SAID.go ]; do sleep 0.01; done; "
      "( (echo orphan $BASHPID >>$SAID; exec sleep 60) & ); sleep 61; :' & "
      "sleep 62 & echo sibling $! >>$SAID; echo ready >>$SAID; wait"};
  REQUIRE(eventually([&] { return outer.ready() && outer.named("inner") > 0; }));
  ScriptFamily inner{*process_of(outer.named("inner")), 0};
  outer.family().look();
  outer.let_go();
  REQUIRE(eventually([&] { return outer.named("orphan") > 0; }));
  const pid_t orphan = outer.named("orphan"), sibling = outer.named("sibling");
  REQUIRE(eventually([&] { return facts_of(orphan)->parent != outer.named("inner"); }));

  const std::vector<pid_t> inside = inner.all(Clock::now()), all = outer.family().all(Clock::now());

  CHECK(std::ranges::find(inside, orphan) != inside.end());
  CHECK(std::ranges::find(inside, sibling) == inside.end());
  CHECK(std::ranges::find(inside, outer.process().pid()) == inside.end());
  CHECK(std::ranges::find(all, orphan) != all.end());
  CHECK(std::ranges::find(all, sibling) != all.end());
  outer.family().signal(SIGKILL, Clock::now(), kNever);
  CHECK(gone(orphan));
}

TEST_CASE(
    "what an inner script has left behind belongs to it and to the outer one, which never saw the inner one") {
  Scripted outer{
      "bash -c 'echo inner $$ >>$SAID; until [ -e $SAID.go ]; do sleep 0.01; done; "
      "setsid sh -c \"echo orphan \\$\\$ >>$SAID; exec sleep 60\" & "
      "until grep -q orphan $SAID; do sleep 0.01; done' & "
      "echo ready >>$SAID; wait; sleep 61; :"};
  REQUIRE(eventually([&] { return outer.ready() && outer.named("inner") > 0; }));
  const ProcessId script = *process_of(outer.named("inner"));
  ScriptFamily inner{script, 0}, second{script, 0};  // two keepers of one script
  outer.let_go();
  REQUIRE(eventually([&] { return outer.named("orphan") > 0 && !lives(script); }));
  for (ScriptFamily* family : {&inner, &second, &outer.family()}) {
    const std::vector<pid_t> all = family->all(Clock::now());
    CHECK(std::ranges::find(all, outer.named("orphan")) != all.end());
  }
  outer.family().signal(SIGKILL, Clock::now(), kNever);
  CHECK(gone(outer.named("orphan")));
}

TEST_CASE(
    "a daemon of a script that is a script with a lock of its own still belongs to the outer one, at any depth") {
  Scripted outer{
      "until [ -e $SAID.tagged ]; do sleep 0.01; done; "  // else the daemon may lose its parent before
      "(setsid bash -c 'echo daemon $$ >>$SAID; until [ -e $SAID.go ]; do sleep 0.01; done; "
      "(setsid bash -c \"echo deeper \\$\\$ >>$SAID; until [ -e $SAID.more ]; do sleep 0.01; done; "
      "(setsid sleep 60 & echo deepest \\$! >>$SAID); exec sleep 60\" &); exec sleep 60' &); "
      "echo ready >>$SAID; exec sleep 60"};
  const auto appears = [&](const char* name) { return eventually([&] { return outer.named(name) > 0; }); };
  const auto orphaned = [&](const char* name) {
    return eventually([&] { return ::getsid(outer.named(name)) == outer.named(name); });
  };
  REQUIRE((eventually([&] { return outer.ready(); }) && appears("daemon") && orphaned("daemon")));
  ScriptFamily daemon{*process_of(outer.named("daemon")), 0};
  outer.let_go();
  REQUIRE((appears("deeper") && orphaned("deeper")));
  ScriptFamily deeper{*process_of(outer.named("deeper")), 0};
  outer.more();
  REQUIRE((appears("deepest") && orphaned("deepest")));
  const std::vector<pid_t> all = outer.family().all(Clock::now());
  for (const char* name : {"daemon", "deeper", "deepest"}) {
    CAPTURE(name);
    CHECK(std::ranges::find(all, outer.named(name)) != all.end());
  }
  const std::vector<pid_t> inside = deeper.all(Clock::now());
  CHECK(std::ranges::find(inside, outer.named("daemon")) == inside.end());
  outer.family().signal(SIGKILL, Clock::now(), kNever);
  CHECK(gone(outer.named("deepest")));
}

TEST_CASE("a tag that another user has forged makes no third script belong to a script") {
  if (::geteuid() != 0) return skipped("only root can start another user's process");
  constexpr uid_t kNobody = 65534;
  Scripted script{"echo ready >>$SAID; exec sleep 60"};
  REQUIRE(eventually([&] { return script.ready(); }));
  Process third{{"sleep", "60"}};
  const ProcessId victim = *process_of(third.pid());
  REQUIRE(put_tag(third.pid(), tag_of(victim, 0)));
  const ScriptTag forged = tag_of(victim, tag_on(script.process().pid()));
  const pid_t liar = ::fork();
  if (liar == 0) {
    if (::setuid(kNobody) != 0 || !put_tag(0, forged)) ::_exit(1);
    ::pause();
  }
  REQUIRE(eventually([&] { return tag_on(liar) == forged; }));
  for (int look = 0; look < 2; ++look) {
    const std::vector<pid_t> all = script.family().all(Clock::now());
    CHECK(std::ranges::find(all, third.pid()) == all.end());
    CHECK_FALSE(script.family().surely_gone(Clock::now()));
  }
  ::kill(liar, SIGKILL);
  ::waitpid(liar, nullptr, 0);
}

TEST_CASE("a subshell that holds a lock has siblings: they do not belong to it") {
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
  ScriptFamily family{*process_of(named("one")), 0};

  family.signal(SIGKILL, Clock::now(), kNever);

  CHECK(eventually([&] { return family.all(Clock::now()).empty(); }));
  CHECK(alive(named("two")));
  CHECK(shell.running());
}

TEST_CASE("members of a session or group that the script leads belong to it, even if they were never seen") {
  for (const std::string leads : {"POSIX::setsid", "setpgrp"}) {
    for (const std::string limit : {"", "ulimit -x 1000; "}) {  // with this limit it cannot be tagged
      for (const int number : {SIGTERM, SIGKILL}) {
        CAPTURE(leads);
        CAPTURE(limit);
        CAPTURE(number);
        TempDir folder;
        Process script{
            {"perl", "-MPOSIX", "-e", leads + "; exec 'bash', '-c', shift",
             limit + "echo >$D/on; until [ -e $D/go ]; do sleep 0.01; done; (sleep 60 & echo $! >$D/child); "
                     "echo >$D/ready; exec sleep 61"},
            {.env = {{"D", folder.path()}}}};
        const auto has = [&](const std::string& file) {
          return eventually([&] { return read_file(folder / file).ends_with('\n'); });
        };
        REQUIRE(has("on"));
        ScriptFamily family{*process_of(script.pid()), 0};
        write_file(folder / "go", "");  // only now: an orphan from before the first look may be a stranger's
        REQUIRE((has("child") && has("ready")));
        const pid_t child = std::stoi(read_file(folder / "child"));

        CHECK(family.signal(number, Clock::now(), kNever).empty());

        CHECK(gone(child));
        CHECK(eventually([&] { return family.surely_gone(Clock::now()); }));
      }
    }
  }
}

TEST_CASE(
    "an orphan of a script that leads a group belongs to it, whichever process of the session adopts it") {
  TempDir folder;
  const int status = in_another_process([&] {
    ::setsid();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // The script cannot be tagged, so only the process group shows that the orphan is its own.
    Process shell{
        {"perl", "-e", "$c = fork; if (!$c) { setpgrp 0, 0; exec 'bash', '-c', shift } waitpid $c, 0",
         "ulimit -x 1000; echo $$ >$D/script; until [ -e $D/go ]; do sleep 0.01; done; "
         "(sleep 60 & echo $! >$D/orphan); exec sleep 61"},
        {.env = {{"D", folder.path()}}}};
    const auto number = [&](const std::string& file) {
      const bool there = eventually([&] { return read_file(folder / file).ends_with('\n'); });
      return there ? std::stoi(read_file(folder / file)) : 0;
    };
    const pid_t script = number("script");
    const auto id = process_of(script);
    if (!id) return 1;
    ScriptFamily family{*id, 0};
    write_file(folder / "go", "");
    const pid_t orphan = number("orphan");
    if (!eventually([&] { return facts_of(orphan)->parent == ::getpid(); })) return 2;
    const std::vector<pid_t> all = family.all(Clock::now());
    return std::ranges::find(all, orphan) == all.end() ? 3 : 0;
  });
  CHECK(status == 0);
}

TEST_CASE(
    "an orphan that is older than the lock is spared, and while it lives the family is not surely gone") {
  // As with `make -j`, the process group belongs to the shell above the script.
  TempDir folder;
  Process group{{"bash", "-c",
                 "(sleep 63 &); sleep 0.05; bash -c '(sleep 60 & echo $! >" + (folder / "orphan") +
                     "); exec sleep 61' & echo $! >" + (folder / "script") + "; wait; sleep 62"},
                {.own_session = true}};
  REQUIRE(eventually([&] { return read_file(folder / "script").ends_with('\n'); }));
  REQUIRE(eventually([&] { return read_file(folder / "orphan").ends_with('\n'); }));
  const pid_t script = std::stoi(read_file(folder / "script")),
              orphan = std::stoi(read_file(folder / "orphan"));
  REQUIRE(eventually(
      [&] { return facts_of(orphan)->parent != script && proc_text(script, "comm") == "sleep\n"; }));
  ScriptFamily family{*process_of(script), 0};

  family.signal(SIGKILL, Clock::now(), kNever);

  REQUIRE(eventually([&] { return family.all(Clock::now()).empty(); }));
  CHECK(alive(orphan));
  CHECK(group.running());
  CHECK_FALSE(family.surely_gone(Clock::now()));
  ::kill(orphan, SIGKILL);
  CHECK(eventually(
      [&] { return family.surely_gone(Clock::now()); }));  // the orphan of 63 s is older than the script
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
  ScriptFamily family{*process_of(script), 0};

  CHECK(family.all(Clock::now()) == std::vector{script});
  family.signal(SIGKILL, Clock::now(), kNever);
  CHECK(shell.exit_code() == 0);  // the exit status of the other half, which has seen the end of the pipe
}

TEST_CASE("a signal leaves stopped processes stopped, and lets all others run on") {
  Scripted script{
      "trap 'echo term >>$SAID' TERM; sleep 60 & echo still $! >>$SAID; kill -STOP $!; "
      "echo ready >>$SAID; while :; do sleep 0.02; done"};
  REQUIRE(eventually([&] { return script.ready() && state_of(script.named("still")) == 'T'; }));

  script.family().signal(SIGUSR2, Clock::now(),
                         kNever);  // ends each running process: bash has no trap for it
  CHECK(script.process().exit_code() == 128 + SIGUSR2);
  CHECK(state_of(script.named("still")) == 'T');

  script.family().signal(SIGCONT, Clock::now(), kNever);
  CHECK(gone(script.named("still")));
}

TEST_CASE(
    "a process above the script that stopped because of a freeze is continued, but not one that others stopped") {
  for (const bool was_stopped : {false, true}) {
    CAPTURE(was_stopped);
    TempDir folder;
    // Because of ulimit -x the script has no tag, so signal() freezes it meanwhile. It ignores the signal.
    Process above{{"bash", "-c",
                   "bash -c 'ulimit -x 1000; echo $$ >" + (folder / "script") + "; exec sleep 60'; exit 7"},
                  {.own_session = true}};
    const auto number = [&] { return read_file(folder / "script"); };
    REQUIRE(eventually([&] { return number().ends_with('\n'); }));
    const pid_t script = std::stoi(number());
    REQUIRE(eventually([&] { return proc_text(script, "comm") == "sleep\n"; }));
    ScriptFamily family{*process_of(script), 0};
    const auto stop = [&] {
      ::kill(above.pid(), SIGSTOP);
      REQUIRE(eventually([&] { return state_of(above.pid()) == 'T'; }));
    };

    if (was_stopped) stop();
    const TimePoint before = Clock::now();
    family.signal(SIGWINCH, before, kNever);
    const TimePoint after = Clock::now();
    if (!was_stopped) stop();

    family.all(before);
    family.all(plus(after, 3s));
    CHECK(state_of(above.pid()) == 'T');
    family.all(plus(after, 100ms));
    CHECK(eventually([&] { return state_of(above.pid()) != 'T'; }, 200ms) == !was_stopped);
    CHECK(eventually([&] { return state_of(script) == 'S'; }));

    ::kill(script, SIGKILL);
    REQUIRE(gone(script));
    CHECK_FALSE(family.surely_gone(before));  // not before the processes above the script have gone on
    CHECK(eventually([&] { return family.surely_gone(plus(after, 100ms)); }));
  }
}

TEST_CASE("each script gets the stop signal, however long ago the turn that sends it began") {
  for (const std::string limit : {"", "ulimit -x 1000; "}) {  // with this limit it cannot be tagged
    CAPTURE(limit);
    TempDir folder;
    Process script{{"perl", "-e", "setpgrp; exec 'bash', '-c', shift",
                    limit + "echo >" + (folder / "on") + "; exec sleep 60"}};
    REQUIRE(eventually([&] { return read_file(folder / "on") == "\n"; }));
    ScriptFamily family{*process_of(script.pid()), 0};
    CHECK(family.signal(SIGTERM, Clock::now() - 1s, kNever).empty());
    CHECK(script.exit_code() == 128 + SIGTERM);
  }
}

TEST_CASE("a script with a tag gets the stop signal without a freeze") {
  Scripted script{"exec sleep 60"};
  REQUIRE(eventually([&] { return proc_text(script.process().pid(), "comm") == "sleep\n"; }));
  const TimePoint before = Clock::now();
  CHECK(script.family().signal(SIGTERM, before, kNever).empty());
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  CHECK(script.family().surely_gone(before));  // without a freeze, no process above it has stopped with it
}

TEST_CASE("after a freeze, a process above the script that has ended does no harm") {
  TempDir folder;
  Process above{
      {"bash", "-c", "bash -c 'ulimit -x 1000; echo $$ >" + (folder / "script") + "; exec sleep 60'; exit 7"},
      {.own_session = true}};
  REQUIRE(eventually([&] { return read_file(folder / "script").ends_with('\n'); }));
  const pid_t script = std::stoi(read_file(folder / "script"));
  REQUIRE(eventually([&] { return proc_text(script, "comm") == "sleep\n"; }));
  ScriptFamily family{*process_of(script), 0};
  family.signal(SIGWINCH, Clock::now(), kNever);
  const TimePoint after = Clock::now();
  above.signal(SIGKILL);
  CHECK(above.exit_code() == 128 + SIGKILL);
  CHECK(family.all(plus(after, 100ms)) == std::vector{script});
  family.signal(SIGKILL, plus(after, 100ms), kNever);
  CHECK(gone(script));
}

TEST_CASE("a script that is stopped or traced gets signals, too") {
  Scripted stopped{"trap 'echo term >>$SAID; exit 3' TERM; echo ready >>$SAID; kill -STOP $$; sleep 60"};
  REQUIRE(eventually([&] { return stopped.ready() && state_of(stopped.process().pid()) == 'T'; }));
  stopped.family().signal(SIGTERM, Clock::now(), kNever);
  stopped.family().signal(SIGCONT, Clock::now(), kNever);
  CHECK(stopped.process().exit_code() == 3);

  Scripted traced{"echo ready >>$SAID; while :; do sleep 60 & sleep 0.01; done"};
  REQUIRE(eventually([&] { return traced.ready(); }));
  const pid_t script = traced.process().pid();
  const pid_t tracer = ::fork();
  if (tracer == 0) {  // holds the script in each of its stops, as a debugger does
    if (::ptrace(PTRACE_SEIZE, script, 0, 0) != 0) ::_exit(1);
    for (;;) ::pause();
  }
  const bool seized = eventually([&] {
    return contains(read_file("/proc/" + std::to_string(script) + "/status"),
                    "TracerPid:\t" + std::to_string(tracer));
  });
  traced.family().signal(SIGTERM, Clock::now(), kNever);
  traced.family().signal(SIGKILL, Clock::now(), kNever);
  CHECK(eventually([&] { return traced.family().all(Clock::now()).empty(); }));
  ::kill(tracer, SIGKILL);  // until the tracer ends, only it learns of the script's end
  ::waitpid(tracer, nullptr, 0);
  CHECK(traced.process().exit_code() == 128 + SIGKILL);
  CHECK(seized);
}

TEST_CASE(
    "the shell of a job does not see it stop, and all processes that the job keeps starting are told to end") {
  TempDir folder;
  const std::string witness = folder / "witness";
  write_file(witness, "");
  // As in an interactive shell, the script leads a process group. The shell must see that it ends, but no stop.
  Process shell{
      {"perl", "-MPOSIX=:sys_wait_h", "-e",
       "$c = fork; if (!$c) { setpgrp 0, 0; exec 'bash', '-c', shift }"
       "while (waitpid($c, WUNTRACED) > 0) { exit 9 if WIFSTOPPED(${^CHILD_ERROR_NATIVE}); last } exit 7",
       "echo $$ >" + (folder / "script") + "; while :; do (exec 9>>" + witness +
           "; flock -s 9; exec sleep 30) & done"}};
  REQUIRE(eventually([&] { return read_file(folder / "script").ends_with('\n') && !nobody_locks(witness); }));
  ScriptFamily family{*process_of(std::stoi(read_file(folder / "script"))), 0};

  family.signal(SIGTERM, Clock::now(), kNever);

  CHECK(shell.exit_code() == 7);
  family.signal(SIGKILL, Clock::now(), kNever);  // bash may lose a TERM between fork and exec
  CHECK(eventually([&] { return family.surely_gone(Clock::now()); }));
  CHECK(nobody_locks(witness));
}

TEST_CASE("the shell of a job that cannot be tagged does not see it stop") {
  TempDir folder;
  Process shell{
      {"perl", "-MPOSIX=:sys_wait_h", "-e",
       "$c = fork; if (!$c) { setpgrp 0, 0; exec 'bash', '-c', shift }"
       "while (waitpid($c, WUNTRACED) > 0) { exit 9 if WIFSTOPPED(${^CHILD_ERROR_NATIVE}); last } exit 7",
       "ulimit -x 1000; echo $$ >" + (folder / "script") + "; exec sleep 60"}};
  REQUIRE(eventually([&] { return read_file(folder / "script").ends_with('\n'); }));
  const pid_t script = std::stoi(read_file(folder / "script"));
  REQUIRE(eventually([&] { return proc_text(script, "comm") == "sleep\n"; }));
  ScriptFamily family{*process_of(script), 0};

  const TimePoint before = Clock::now();
  family.signal(SIGTERM, before, kNever);

  CHECK(shell.exit_code() == 7);
  CHECK(family.surely_gone(before));  // it was not frozen
}

TEST_CASE("a process that stops because the script stands still goes on again") {
  // As sudo does: this process stops when its child has stopped.
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
  ScriptFamily family{*process_of(script), 0};

  ::kill(script, SIGSTOP);
  REQUIRE(eventually([&] { return state_of(above.pid()) == 'T'; }));
  ::kill(above.pid(), SIGCONT);
  ::kill(script, SIGCONT);
  REQUIRE(eventually([&] { return state_of(above.pid()) == 'S' && state_of(script) == 'S'; }));
  family.signal(SIGTERM, Clock::now(), kNever);

  // The process above may have noticed the freeze, or not.
  CHECK(eventually([&] { return family.all(Clock::now()).empty() && !above.running(); }));
  CHECK(above.exit_code() == 7);
}

TEST_CASE("a stranger that has the number of an ended script gets no signal") {
  Process stranger{{"sleep", "60"}, {.own_session = true}};
  ProcessId other{stranger.pid(), 1};
  ScriptFamily family{other, 0};

  CHECK_FALSE(family.script_lives());
  CHECK(family.all(Clock::now()).empty());
  family.signal(SIGKILL, Clock::now(), kNever);
  CHECK(throughout([&] { return stranger.running(); }, 50ms));
}

TEST_CASE("/proc tells parents and children, with or without lists of children") {
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
