#include "cmd/hold/command/held_command.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "loop/source.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/forked.h"
#include "support/process.h"
#include "support/profile.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using How = CommandOutcome::How;

/// Keeps a lock that no server holds: the test says when the lock is renewed and when it is lost.
class FakeKeeper final : public Source {
 public:
  Deadlines deadlines{plus(Clock::now(), 60s), plus(Clock::now(), 61s)};
  std::optional<Milliseconds> lease;        ///< each look renews, and the stop signal is this far away then
  std::function<void()> each_look = [] {};  ///< the test's own work in each turn
  std::function<bool()> lost_when = [] { return false; };
  Milliseconds grace{60000};  ///< between the loss and KILL

  explicit FakeKeeper(Loop& loop) : membership_(loop, *this) {}

  HeldLock lock() {
    return {.name = [] { return "'k'"; },
            .deadlines = [this] { return deadlines; },
            .lost = [this] { return lost_; }};
  }

  TimePoint wake_at() const override { return next_look_; }
  void ready(short, TimePoint now) override {
    next_look_ = plus(now, 5ms);
    if (lease) deadlines = {plus(now, *lease), plus(now, *lease + 1s)};
    each_look();
    if (lost_ || !lost_when()) return;
    lost_ = "somebody removed it";
    deadlines = {now, plus(now, grace)};
  }

 private:
  TimePoint next_look_ = Clock::now();
  std::optional<std::string> lost_;
  Membership membership_;
};

/// Hides /proc from this process. False: that is not allowed.
bool hide() {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
}

/// Describes how a command ended, such as "exit 143, signal 15".
std::string outcome_text(const CommandOutcome& ended) {
  std::string text = fmt::format("exit {}", ended.exit_code);
  if (ended.how == How::killed) text += fmt::format(", signal {}", ended.signal);
  if (ended.how == How::not_started) text += fmt::format(", not started {}", ended.error);
  if (ended.how == How::interrupted) text += fmt::format(", interrupted {}", ended.signal);
  if (ended.how == How::too_late) text += ", too late";
  if (ended.max_hold) text += ", max hold";
  if (!ended.left.empty()) text += ", left some";
  if (ended.left_hidden) text += ", left hidden ones";
  return text;
}

/// A shell command that is held in a process of its own. It appends its output to $LOG.
class Scene {
 public:
  CommandOptions options{{.rules = {.kill_after = 60s}}};
  std::function<void(FakeKeeper&)> arrange = [](FakeKeeper&) {};
  std::function<void()> before_run = [] {};

  explicit Scene(const std::string& line) : Scene(Words{"sh", "-c", line}) {}
  explicit Scene(Words argv) {
    options.command = {std::move(argv), {{"LOG", log_file()}, {"HELD_TEST", folder_.path()}}};
    options.marks = {"HELD_TEST=" + folder_.path()};
  }

  /// Runs the command, and returns outcome_text() of it.
  std::string run() {
    const StopWatch watch;
    const int status = in_another_process([this] { return live(); });
    took_ = watch.elapsed();
    return status == 0 ? read_file(folder_ / "ended") : fmt::format("status {}", status);
  }

  /// The main function of the process that run() starts. It holds the command, and returns when the command has ended.
  int live() {
    ::setsid();  // detaches it from the terminal of the test's caller
    ::dup2(::open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
    Loop loop;
    Signals signals{loop};
    FakeKeeper keeper{loop};
    arrange(keeper);
    before_run();
    HeldCommand held{loop, signals, keeper.lock(), options};
    write_file(folder_ / "ended", outcome_text(held.run()));
    return 0;
  }

  std::chrono::milliseconds took() const { return took_; }
  std::string log() const { return read_file(log_file()); }
  std::string err() const { return read_file(folder_ / "err"); }
  std::string log_file() const { return folder_ / "log"; }
  std::string operator/(const std::string& name) const { return folder_ / name; }

  /// The lock is lost when the command has written `text` to $LOG.
  void lose_at(const std::string& text, Milliseconds grace) {
    arrange = [this, text, grace](FakeKeeper& keeper) {
      keeper.grace = grace;
      keeper.lost_when = [this, text] { return contains(log(), text); };
    };
  }

 private:
  TempDir folder_;
  std::chrono::milliseconds took_{0};
};

/// Reports that it runs, and runs on and on. The short sleeps let the shell see its signals.
const std::string kRunOn = "echo ready >>$LOG; while :; do sleep 0.02; done";

/// The pid of this process's guardian; 0: it has none, or the guardian has died.
pid_t guardian_of_ours() {
  for (const std::string& word :
       split(read_file(fmt::format("/proc/self/task/{}/children", ::getpid())), ' ')) {
    const pid_t pid = std::atoi(word.c_str());
    if (pid > 0 && read_file(fmt::format("/proc/{}/comm", pid)) == "guardian\n" && state_of(pid) != 'Z')
      return pid;
  }
  return 0;
}

}  // namespace

TEST_CASE("a held command ends as it would without a lock") {
  CHECK(Scene{"exit 0"}.run() == "exit 0");
  CHECK(Scene{"exit 7"}.run() == "exit 7");
  CHECK(Scene{"kill -TERM $$"}.run() == "exit 143, signal 15");
  CHECK(Scene{"kill -KILL $$"}.run() == "exit 137, signal 9");
}

TEST_CASE("a command that cannot be started leaves no guardian, and says why") {
  const auto not_started = [](int error) { return fmt::format("exit 0, not started {}", error); };
  CHECK(Scene{Words{"/nonexistent/command"}}.run() == not_started(ENOENT));
  CHECK(Scene{Words{"/dev/null"}}.run() == not_started(EACCES));
}

TEST_CASE("the guardian of a command that cannot be started does not take us for killed") {
  Scene scene{Words{"/nonexistent/command"}};
  scene.options.release_by_guardian = [&](const LeftAlone&) { write_file(scene.log_file(), "released"); };
  CHECK(contains(scene.run(), "not started"));
  CHECK(scene.log().empty());
}

TEST_CASE("a command is not started without a guardian") {
  if (kSanitized) return skipped("UndefinedBehaviorSanitizer makes a pipe, too, to look at an object");
  Scene scene{"echo ready >>$LOG"};
  const int status = in_another_process([&] {
    ::setsid();
    Loop loop;
    Signals signals{loop};
    FakeKeeper keeper{loop};
    HeldCommand held{loop, signals, keeper.lock(), scene.options};
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    // Now neither the pipe to a guardian nor the file for the result can be made.
    ::setrlimit(RLIMIT_NOFILE, &none);
    return held.run().error;
  });
  CHECK(WEXITSTATUS(status) == EMFILE);
  CHECK(scene.log().empty());
}

TEST_CASE("a command is not started when a signal has ended the wait, or the lock may end at once") {
  Scene interrupted{"echo ready >>$LOG"};
  interrupted.before_run = [] { ::kill(::getpid(), SIGTERM); };
  CHECK(interrupted.run() == "exit 0, interrupted 15");
  CHECK(interrupted.log().empty());

  Scene late{"echo ready >>$LOG"};
  late.arrange = [](FakeKeeper& keeper) { keeper.deadlines.stop = Clock::now(); };
  CHECK(late.run() == "exit 0, too late");
  CHECK(late.log().empty());
}

TEST_CASE("a command runs as long as its lock is renewed, beyond the first deadline") {
  Scene scene{"until [ -e $LOG.go ]; do sleep 0.02; done; exit 3"};
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.lease = 1s;
    keeper.each_look = [&, first = plus(Clock::now(), 1s)] {
      if (Clock::now() > first) write_file(scene.log_file() + ".go", "");
    };
  };
  CHECK(scene.run() == "exit 3");
  CHECK(scene.took() > 1s);
  CHECK(scene.err().empty());
}

TEST_CASE("if no process renews the lock, the command is stopped before the lock can end") {
  Scene scene{"trap 'echo term >>$LOG; exit 3' TERM; " + kRunOn};
  scene.arrange = [](FakeKeeper& keeper) {
    keeper.deadlines = {plus(Clock::now(), 300ms), plus(Clock::now(), 60s)};
  };
  CHECK(scene.run() == "exit 3");
  CHECK(scene.log() == "ready\nterm\n");
  CHECK(scene.took() >= 300ms);
}

TEST_CASE("a loss stops the command at once, and a line announces the next steps") {
  Scene scene{"trap 'echo term >>$LOG; exit 3' TERM; " + kRunOn};
  scene.lose_at("ready", 60s);
  CHECK(scene.run() == "exit 3");
  CHECK(scene.log() == "ready\nterm\n");
  CHECK(contains(scene.err(),
                 "rlock: lost 'k': somebody removed it; stopping the command: SIGTERM now, SIGKILL in "));
}

TEST_CASE("a command whose lock is lost at once has its time to end, too") {
  Scene scene{"sleep 60"};
  scene.arrange = [](FakeKeeper& keeper) {
    keeper.grace = 500ms;
    keeper.lost_when = [] { return true; };
  };
  scene.options.rules.signal = SIGWINCH;  // it ends no process
  CHECK(scene.run() == "exit 137, signal 9");
  CHECK(scene.took() >= 500ms);
}

TEST_CASE("a command that does not obey gets the signal, CONT, and KILL when the lock can end") {
  Scene scene{"trap 'echo term >>$LOG' TERM; trap 'echo cont >>$LOG' CONT; " + kRunOn};
  scene.lose_at("ready", 500ms);
  CHECK(scene.run() == "exit 137, signal 9");
  CHECK(scene.log() == "ready\nterm\ncont\n");
  CHECK(scene.took() >= 500ms);
}

TEST_CASE("the signal that stops the command can be chosen") {
  Scene scene{"trap 'echo term >>$LOG' TERM; trap 'echo usr1 >>$LOG; exit 4' USR1; " + kRunOn};
  scene.options.rules.signal = SIGUSR1;
  scene.lose_at("ready", 60s);
  CHECK(scene.run() == "exit 4");
  CHECK(scene.log() == "ready\nusr1\n");
}

TEST_CASE("a command that is stopped is woken to obey, and not when it is too late for that") {
  const std::string line = "trap 'echo term >>$LOG; exit 3' TERM; echo ready >>$LOG; kill -STOP $$; sleep 60";
  Scene in_time{line};
  in_time.lose_at("ready", 60s);
  CHECK(in_time.run() == "exit 3");

  Scene too_late{line};
  too_late.lose_at("ready", 0s);
  CHECK(too_late.run() == "exit 137, signal 9");
  CHECK(too_late.log() == "ready\n");
}

TEST_CASE("a command that ends after a loss keeps its exit status, and the rest of its group is killed") {
  Scene scene{
      "trap 'exit 5' TERM; sh -c 'trap \"\" TERM; echo $$ >$LOG.pid; echo ready >>$LOG; sleep 60' & "
      "while :; do sleep 0.02; done"};
  scene.lose_at("ready", 60s);
  CHECK(scene.run() == "exit 5");
  CHECK_FALSE(alive(std::stoi(read_file(scene.log_file() + ".pid"))));
}

TEST_CASE("a loss after the command's end stops the processes that --until group waits for") {
  Scene scene{"sleep 60 & echo $! >$LOG.pid; echo ready >>$LOG; exit 6"};
  scene.options.until_group = true;
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.lost_when = [&] {
      const std::vector<std::string> pid = split(read_file(scene.log_file() + ".pid"), '\n');
      return contains(scene.log(), "ready") && state_of(::getpgid(std::atoi(pid.front().c_str()))) == 'Z';
    };
  };
  CHECK(scene.run() == "exit 6");
  CHECK(scene.err() == "rlock: lost 'k': somebody removed it; the command has ended\n");
  CHECK_FALSE(alive(std::stoi(read_file(scene.log_file() + ".pid"))));
}

TEST_CASE("with --on-lost warn a command goes on without its lock") {
  Scene scene{"echo ready >>$LOG; until [ -e $LOG.go ]; do sleep 0.02; done; exit 3"};
  scene.options.rules.stop_on_loss = false;
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.grace = 0s;
    keeper.lost_when = [&] { return contains(scene.log(), "ready"); };
    keeper.each_look = [&] {
      if (contains(scene.err(), "lost 'k'")) write_file(scene.log_file() + ".go", "");
    };
  };
  CHECK(scene.run() == "exit 3");
  CHECK(scene.err() == "rlock: lost 'k': somebody removed it; the command runs on (--on-lost warn)\n");
}

TEST_CASE("--max-hold stops the command, and kills it after --kill-after though the lock is renewed on") {
  Scene obedient{"trap 'exit 3' TERM; " + kRunOn};
  obedient.arrange = [](FakeKeeper& keeper) { keeper.lease = 10s; };
  obedient.options.max_hold = plus(Clock::now(), 300ms);
  CHECK(obedient.run() == "exit 3, max hold");
  CHECK(contains(obedient.err(),
                 "rlock: --max-hold is over for 'k': stopping the command: SIGTERM now, SIGKILL in "));

  Scene stubborn{"trap '' TERM; " + kRunOn};
  stubborn.arrange = [](FakeKeeper& keeper) { keeper.lease = 10s; };
  stubborn.options.max_hold = plus(Clock::now(), 200ms);
  stubborn.options.rules.kill_after = 300ms;
  CHECK(stubborn.run() == "exit 137, signal 9, max hold");
  CHECK(stubborn.took() >= 400ms);
}

TEST_CASE("a loss during --max-hold is reported, and the earlier KILL counts") {
  Scene scene{"trap 'echo term >>$LOG' TERM; " + kRunOn};
  scene.options.max_hold = plus(Clock::now(), 200ms);
  scene.lose_at("term", 100ms);
  CHECK(scene.run() == "exit 137, signal 9, max hold");
  CHECK(contains(scene.err(), "--max-hold is over for 'k'"));
  CHECK(contains(scene.err(), "lost 'k': somebody removed it"));
  CHECK(scene.log() == "ready\nterm\n");
}

TEST_CASE("a guardian that dies is replaced, and the command runs on") {
  Scene scene{"echo ready >>$LOG; until [ -e $LOG.go ]; do sleep 0.02; done; exit 3"};
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.each_look = [&, killed = pid_t{0}]() mutable {
      const pid_t guardian = contains(scene.log(), "ready") ? guardian_of_ours() : 0;
      if (guardian == 0) return;
      if (killed == 0) ::kill(killed = guardian, SIGKILL);
      if (guardian != killed) write_file(scene.log_file() + ".go", "");
    };
  };
  CHECK(scene.run() == "exit 3");
}

TEST_CASE("a guardian that is stopped does not keep us from stopping the command") {
  Scene scene{"trap '' TERM; " + kRunOn};
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.grace = 100ms;
    keeper.lost_when = [&] {
      const pid_t guardian = contains(scene.log(), "ready") ? guardian_of_ours() : 0;
      return guardian != 0 && ::kill(guardian, SIGSTOP) == 0;
    };
  };
  CHECK(scene.run() == "exit 137, signal 9");
}

TEST_CASE("a command is stopped in time while rlock is stopped, and rlock sees its end when it goes on") {
  Scene scene{"trap 'echo told >>$LOG; exit 3' USR1; trap '' TERM; " + kRunOn};
  scene.options.rules.signal = SIGUSR1;
  scene.arrange = [](FakeKeeper& keeper) {
    keeper.deadlines = {plus(Clock::now(), 400ms), plus(Clock::now(), 60s)};
  };
  const int status = in_another_process([&] {
    const pid_t holder = ::fork();
    if (holder == 0) ::_exit(scene.live());
    const bool ready = eventually([&] { return contains(scene.log(), "ready"); });
    ::kill(holder, SIGSTOP);
    const bool stopped = eventually([&] { return contains(scene.log(), "told"); });
    const bool held = state_of(holder) == 'T';
    ::kill(holder, SIGCONT);
    int end = -1;
    ::waitpid(holder, &end, 0);
    return ready && stopped && held && end == 0 ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(read_file(scene / "ended") == "exit 3");
}

TEST_CASE(
    "after a loss rlock waits only a moment for a process that /proc hides and that KILL does not end") {
  if (in_another_process([&] { return hide() ? 0 : 1; }) != 0) return skipped("may not hide /proc");
  // The subshell leaves the process group, but its dead child stays in the group, because sleep does not reap it.
  Scene scene{"(true & exec setsid sleep 60) & echo $! >$LOG.pid; echo ready >>$LOG; sleep 60"};
  const auto apart = [&] { return std::atoi(read_file(scene.log_file() + ".pid").c_str()); };
  scene.before_run = [&] { hide(); };
  scene.options.last_tries = 100ms;
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.lost_when = [&] { return contains(scene.log(), "ready") && ::getsid(apart()) == apart(); };
  };
  CHECK(scene.run() == "exit 143, signal 15, left hidden ones");
  CHECK(alive(apart()));
  ::kill(apart(), SIGKILL);
}

TEST_CASE("a loss is noticed also while rlock waits for a process that /proc hides") {
  if (in_another_process([] { return hide() ? 0 : 1; }) != 0) return skipped("may not hide /proc");
  Scene scene{
      "(true & exec setsid sleep 20) & echo $! >$LOG.pid; echo $$ >$LOG.first; echo ready >>$LOG; sleep 60"};
  const auto number = [&](const std::string& name) {
    return std::atoi(read_file(scene.log_file() + name).c_str());
  };
  scene.before_run = [] { hide(); };
  scene.options.last_tries = 100ms;
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.each_look = [&, told = false]() mutable {
      if (told || !contains(scene.log(), "ready") || ::getsid(number(".pid")) != number(".pid")) return;
      told = true;
      keeper.deadlines = {Clock::now(), plus(Clock::now(), 60s)};
    };
    // /proc shows nothing here, so kill() says whether the first process has been reaped.
    keeper.lost_when = [&] { return contains(scene.log(), "ready") && ::kill(number(".first"), 0) != 0; };
  };
  CHECK(scene.run() == "exit 143, signal 15, left hidden ones");
  CHECK(contains(scene.err(), "lost 'k'"));
  ::kill(number(".pid"), SIGKILL);
}

TEST_CASE("a signal to rlock reaches the command, and rlock ends as the command does") {
  Scene scene{"trap 'echo hup >>$LOG' HUP; trap 'exit 9' INT; " + kRunOn};
  scene.arrange = [&](FakeKeeper& keeper) {
    keeper.each_look = [&, sent = 0]() mutable {
      if (sent == 0 && contains(scene.log(), "ready")) ::kill(::getpid(), (++sent, SIGHUP));
      if (sent == 1 && contains(scene.log(), "hup")) ::kill(::getpid(), (++sent, SIGINT));
    };
  };
  CHECK(scene.run() == "exit 9");
  CHECK(scene.log() == "ready\nhup\n");
}

TEST_CASE("processes that end soon after the command, by the same signal, are not left by it") {
  const std::string child =
      "sh -c 'trap \"sleep 0.1; exit\" TERM; echo ready >>$LOG; while :; do sleep 0.02; done' & ";
  const std::string when_ready = "until [ -e $LOG ]; do sleep 0.02; done; ";
  Scene by_its_signal{child + when_ready + "trap '' TERM; kill -TERM 0; trap - TERM; kill -TERM $$"};
  CHECK(by_its_signal.run() == "exit 143, signal 15");

  Scene forwarded{child + "trap 'exit 4' TERM; " + when_ready +
                  "echo all >>$LOG; while :; do sleep 0.02; done"};
  forwarded.arrange = [&](FakeKeeper& keeper) {
    keeper.each_look = [&, sent = false]() mutable {
      if (!sent && contains(forwarded.log(), "all")) ::kill(::getpid(), (sent = true, SIGTERM));
    };
  };
  CHECK(forwarded.run() == "exit 4");

  Scene of_its_own{"sleep 60 >>$LOG 2>&1 & echo $! >$LOG.pid; exit 4"};
  CHECK(of_its_own.run() == "exit 4, left some");
  ::kill(std::stoi(read_file(of_its_own.log_file() + ".pid")), SIGKILL);
}

TEST_CASE("the exit status of a run tells a loss from the command's own end") {
  struct Row {
    CommandOutcome ended;
    Lost lost;
    int status;
  };
  for (const Row& row : {
           Row{{.exit_code = 7}, Lost::no, 7},
           Row{{.how = How::killed, .exit_code = 143, .signal = 15}, Lost::no, 143},
           Row{{.exit_code = 7}, Lost::yes, exit_code::lost},
           Row{{.exit_code = 0}, Lost::yes, exit_code::lost},
           Row{{.how = How::killed, .exit_code = 143, .signal = 15, .max_hold = true},
               Lost::no,
               exit_code::max_hold},
           Row{{.how = How::killed, .exit_code = 143, .signal = 15, .max_hold = true},
               Lost::yes,
               exit_code::lost},
           Row{{.how = How::not_started, .error = ENOENT}, Lost::no, exit_code::not_found},
           Row{{.how = How::not_started, .error = EACCES}, Lost::no, exit_code::not_runnable},
           Row{{.how = How::not_started, .error = EMFILE}, Lost::no, exit_code::system},
           Row{{.how = How::not_started, .error = ENOENT}, Lost::yes, exit_code::not_found},
           Row{{.how = How::interrupted, .signal = 15},
               Lost::no,
               143},  // to the parent, rlock seems to die of the signal
           Row{{.how = How::interrupted, .signal = 15}, Lost::yes, 143},
           Row{{.how = How::too_late}, Lost::no, exit_code::unreachable},
           Row{{.how = How::too_late}, Lost::yes, exit_code::unreachable},
       }) {
    CAPTURE(outcome_text(row.ended));
    CAPTURE(row.lost == Lost::yes);
    CHECK(exit_status(row.ended, row.lost) == row.status);
  }
}
