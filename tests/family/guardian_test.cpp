// A guardian is the second process of a run. If rlock is killed or stopped, it stops the command in time, and releases
// the lock.

#include "family/guardian.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <functional>
#include <iterator>
#include <optional>

#include "base/descriptor.h"
#include "base/text.h"
#include "loop/signals.h"
#include "process/child.h"
#include "process/processes.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/forked.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// Makes close_range(2) fail as before Linux 5.9, and as in containers with an older filter of system calls.
void forget_close_range() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{.len = std::size(filter), .filter = filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(125);
}

/// A process that guards a command as rlock does, and does nothing else. It writes its facts into files.
class GuardedRun {
 public:
  struct Plan {
    Words command;
    Milliseconds stop{60000};
    Milliseconds kill{60000};
    std::vector<std::string> marks = {};
    Milliseconds moved{0};    ///< then both deadlines are moved to this distance from now; 0: they stay
    Milliseconds late{0};     ///< how long the command's process waits before it names its group
    pid_t group = 0;          ///< the group that it names instead of its own; 0: its own
    bool old_kernel = false;  ///< a kernel without close_range(2)
    bool ended = false;       ///< the guardian is told that the command has ended
  };

  explicit GuardedRun(const Plan& plan) {
    pid_ = ::fork();
    if (pid_ == 0) live(plan);
    CHECK(eventually([&] { return !read_file(folder_ / "command").empty(); }));
  }
  ~GuardedRun() {
    for (pid_t pid : {pid_, command(), guardian()})
      if (pid > 1) ::kill(pid, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  pid_t guardian() const { return std::atoi(read_file(folder_ / "guardian").c_str()); }
  pid_t command() const { return std::atoi(read_file(folder_ / "command").c_str()); }
  std::string said() const { return read_file(folder_ / "said"); }
  /// Has the command begun, and has the guardian left behind what could end or stop it together with rlock?
  bool begun() const {
    return !said().empty() && read_file("/proc/" + std::to_string(guardian()) + "/comm") == "guardian\n";
  }
  /// How rlock had ended when its guardian released; empty: the guardian has not released.
  std::string released() const { return read_file(folder_ / "released"); }
  std::string file() const { return folder_ / "said"; }

 private:
  [[noreturn]] void live(const Plan& plan) {
    if (plan.old_kernel) forget_close_range();
    Loop loop;
    Signals signals{loop};
    const TimePoint now = Clock::now();
    Guardian guardian{loop,
                      signals,
                      {.signal = SIGTERM,
                       .session = ::getsid(0),
                       .marks = plan.marks,
                       .when_nobody_lives =
                           [this](const LeftAlone& alone) {
                             const std::string how = alone.how == RlockEnd::killed ? "killed" : "stopped";
                             write_file(folder_ / "released",
                                        alone.exit ? how + std::to_string(*alone.exit) : how);
                           }},
                      {plus(now, plan.stop), plus(now, plan.kill)}};
    if (plan.moved > Milliseconds{0}) guardian.set_deadlines({plus(now, plan.moved), plus(now, plan.moved)});
    Variables variables{{"SAID", file()}};
    for (const std::string& mark : plan.marks)
      variables.emplace_back(mark.substr(0, mark.find('=')), mark.substr(mark.find('=') + 1));
    Child child{loop, signals, {plan.command, variables}, [&](pid_t self) {
                  ::usleep(static_cast<useconds_t>(plan.late.count() * 1000));
                  guardian.set_group(plan.group > 0 ? plan.group : self);
                }};
    write_file(folder_ / "guardian", std::to_string(guardian.pid()));
    write_file(folder_ / "command", std::to_string(child.pid()));
    if (plan.ended) guardian.set_ended(3);
    while (!child.ended()) {
      loop.turn(kNever);
      write_file(folder_ / "guardian", std::to_string(guardian.pid()));
    }
    guardian.dismiss();
    ::_exit(exit_code_of(child.reap()));
  }

  TempDir folder_;
  pid_t pid_ = -1;
};

/// Runs `work` in another process, which has a guardian of its own. Returns the wait status of that process.
int with_guardian(const std::function<bool(Loop&, std::optional<Guardian>&)>& work) {
  return in_another_process([&] {
    ::alarm(60);
    Loop loop;
    Signals signals{loop};
    std::optional<Guardian> guardian{std::in_place, loop, signals,
                                     Guarded{.signal = SIGTERM, .session = ::getsid(0)}, Deadlines{}};
    return work(loop, guardian) ? 0 : 1;
  });
}

bool stopped(pid_t pid) {
  const auto facts = facts_of(pid);
  return facts && facts->stopped();
}

/// Turns the loop until `so()` is true, for at most ten seconds. Returns whether it is.
bool comes(Loop& loop, const std::function<bool()>& so) {
  for (int i = 0; i < 1000 && !so(); ++i) loop.turn(plus(Clock::now(), Milliseconds{10}));
  return so();
}

}  // namespace

TEST_CASE("a guardian exists at once, and rlock waits for its end even if it is stopped") {
  CHECK(with_guardian([](Loop& loop, std::optional<Guardian>& guardian) {
          const pid_t pid = guardian->pid();
          if (pid <= 0 || ::kill(pid, SIGSTOP) != 0 || !eventually([&] { return stopped(pid); }))
            return false;
          guardian->dismiss();
          guardian.reset();
          loop.turn(Clock::now());
          return ::waitpid(pid, nullptr, WNOHANG) == -1;
        }) == 0);
}

TEST_CASE("if guardians die, the first is replaced at once, and further ones at most every 200 ms") {
  CHECK(with_guardian([](Loop& loop, std::optional<Guardian>& guardian) {
          const TimePoint begun = Clock::now();
          for (int i = 0; i < 2; ++i) {
            const pid_t before = guardian->pid();
            ::kill(before, SIGKILL);
            if (!comes(loop, [&] { return guardian->pid() > 0 && guardian->pid() != before; })) return false;
          }
          return elapsed(begun, Clock::now()) >= Milliseconds{200};
        }) == 0);
}

TEST_CASE("a guardian that was stopped and continued does not wake rlock any more") {
  CHECK(with_guardian([](Loop& loop, std::optional<Guardian>& guardian) {
          const pid_t pid = guardian->pid();
          ::kill(pid, SIGSTOP);
          if (!eventually([&] { return stopped(pid); }) || !comes(loop, [&] { return !stopped(pid); }))
            return false;
          return comes(loop, [&] { return guardian->wake_at() == kNever; });
        }) == 0);
}

TEST_CASE("a guardian kills the whole group when we are killed") {
  GuardedRun run{{.command = {"sh", "-c", "trap '' TERM; sleep 61 & echo $! >$SAID; wait"}}};
  REQUIRE(eventually([&] { return !run.said().empty(); }));
  const pid_t grandchild = std::stoi(run.said());

  ::kill(run.pid(), SIGKILL);

  CHECK(gone(run.command()));
  CHECK(gone(grandchild));
  CHECK(gone(run.guardian()));
}

TEST_CASE("a guardian notices our end although the kernel has no close_range(2)") {
  GuardedRun run{
      {.command = {"sh", "-c", "trap '' TERM; sleep 71 & echo $! >$SAID; wait"}, .old_kernel = true}};
  REQUIRE(eventually([&] { return !run.said().empty(); }));
  const pid_t grandchild = std::stoi(run.said());

  ::kill(run.pid(), SIGKILL);

  CHECK(gone(grandchild));
  CHECK(gone(run.guardian()));
}

TEST_CASE("a guardian stops the command in time when we are stopped") {
  GuardedRun run{
      {.command = {"sh", "-c", "trap 'echo term >>$SAID; exit' TERM; while :; do sleep 0.05; done"},
       .stop = Milliseconds{400},
       .kill = Milliseconds{5000}}};
  ::kill(run.pid(), SIGSTOP);

  CHECK(gone(run.command()));
  CHECK(run.said() == "term\n");
}

TEST_CASE("a guardian leaves rlock time to send the stop signal first") {
  const StopWatch watch;
  GuardedRun run{
      {.command = {"sh", "-c", "trap 'echo term >>$SAID; exit' TERM; while :; do sleep 0.01; done"},
       .stop = Milliseconds{200}}};
  CHECK(eventually([&] { return run.said() == "term\n"; }));
  CHECK(watch.elapsed() >= Milliseconds{200} + kLaterThanRlock);
}

TEST_CASE("a guardian kills processes that do not obey, stopped or not") {
  GuardedRun stubborn{{.command = {"sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"},
                       .stop = Milliseconds{300},
                       .kill = Milliseconds{600}}};
  ::kill(stubborn.pid(), SIGSTOP);
  CHECK(gone(stubborn.command()));

  GuardedRun stopped{
      {.command = {"sh", "-c", "kill -STOP $$"}, .stop = Milliseconds{300}, .kill = Milliseconds{600}}};
  ::kill(stopped.pid(), SIGSTOP);
  CHECK(gone(stopped.command()));
}

TEST_CASE("a guardian kills a command that names its group only after the deadline of KILL") {
  for (const Milliseconds late : {Milliseconds{320}, Milliseconds{360}, Milliseconds{500}}) {
    CAPTURE(late.count());
    GuardedRun run{
        {.command = {"sleep", "65"}, .stop = Milliseconds{100}, .kill = Milliseconds{300}, .late = late}};
    ::kill(run.pid(), SIGSTOP);
    CHECK(gone(run.command()));
  }
}

TEST_CASE("a guardian that reads its orders late acts on the last of them, however many there are") {
  Process command{{"sleep", "67"}, {.own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(command.pid()) == command.pid(); }));
  int ends[2];
  REQUIRE(::pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
  const Descriptor reading{ends[0]}, writing{ends[1]};
  const auto tell = [&](const Order& order) {
    REQUIRE(::write(writing.number(), &order, sizeof order) == sizeof order);
  };
  const auto unread = [&] {
    int bytes = 0;
    return ::ioctl(reading.number(), FIONREAD, &bytes) == 0 ? bytes : -1;
  };
  const TimePoint now = Clock::now();
  for (int i = 0; i < 20; ++i) tell({.kind = Order::deadlines, .until = {now, now}});
  tell({.kind = Order::deadlines});

  const pid_t guardian = ::fork();
  if (guardian == 0)
    guardian_main(reading.number(), {.group = command.pid(), .session = command.pid()}, Deadlines{});
  CHECK(eventually([&] { return unread() == 0; }));
  tell({.kind = Order::dismissed});

  int status = -1;
  CHECK(::waitpid(guardian, &status, 0) == guardian);
  CHECK(status == 0);
  CHECK(command.running());
}

TEST_CASE("a guardian spares a group of another session, even if it was told to guard it") {
  Process stranger{{"sleep", "68"}, {.own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(stranger.pid()) == stranger.pid(); }));
  GuardedRun run{{.command = {"sleep", "69"}, .group = stranger.pid()}};

  ::kill(run.pid(), SIGKILL);

  CHECK(gone(run.guardian()));
  CHECK(stranger.running());
}

TEST_CASE("a guardian finds processes that left the group by their environment") {
  GuardedRun run{{.command = {"bash", "-c", "set -m; sleep 62 & echo $! >$SAID; wait"},
                  .marks = {"RLOCK_TEST_MARKED=" + std::to_string(::getpid())}}};
  REQUIRE(eventually([&] { return !run.said().empty(); }));
  const pid_t stray = std::stoi(run.said());
  REQUIRE(::getpgid(stray) != run.command());

  ::kill(run.pid(), SIGKILL);

  CHECK(gone(stray));
}

TEST_CASE("a guardian that dies is replaced, and the new one knows the group") {
  GuardedRun run{{.command = {"sh", "-c", "sleep 63 & echo $! >$SAID; wait"}}};
  REQUIRE(eventually([&] { return !run.said().empty(); }));
  const pid_t first = run.guardian();
  const pid_t grandchild = std::stoi(run.said());

  ::kill(first, SIGKILL);
  REQUIRE(eventually([&] { return run.guardian() != first && run.guardian() > 0; }));
  ::kill(run.pid(), SIGKILL);

  CHECK(gone(grandchild));
  CHECK(gone(run.guardian()));
}

TEST_CASE("the first guardian that dies is replaced at once, however young it was") {
  GuardedRun run{{.command = {"sleep", "63"}}};
  REQUIRE(eventually([&] { return run.guardian() > 0; }));
  const pid_t first = run.guardian();
  const StopWatch watch;

  ::kill(first, SIGKILL);

  // A pause between two guardians would take 200 ms from the start of the first one.
  pid_t second = 0;  // read once: rlock may be writing the file when it is read again
  CHECK(eventually([&] { return (second = run.guardian()) != first && second > 0; }));
  CHECK(alive(second));
  MESSAGE("replaced after " << watch.elapsed().count() << " ms");
  ::kill(run.pid(), SIGKILL);
  CHECK(gone(run.command()));
}

TEST_CASE(
    "rlock continues a guardian that is stopped, again and again, and it still kills the group when rlock dies") {
  GuardedRun run{{.command = {"sh", "-c", "sleep 73 & echo $! >$SAID; wait"}}};
  REQUIRE(eventually([&] { return !run.said().empty() && run.guardian() > 0; }));
  const pid_t grandchild = std::stoi(run.said());

  const pid_t guardian = run.guardian();
  for (int round = 0; round < 4; ++round) {
    // Else rlock could continue the guardian before this test has seen it stopped.
    ::kill(run.pid(), SIGSTOP);
    REQUIRE(eventually([&] { return state_of(run.pid()) == 'T'; }));
    ::kill(guardian, SIGSTOP);
    REQUIRE(eventually([&] { return state_of(guardian) == 'T'; }));
    ::kill(run.pid(), SIGCONT);
    REQUIRE(eventually([&] { return state_of(guardian) != 'T'; }));
    CHECK(eventually([&] { return run.guardian() == guardian; }));  // rlock may be writing this file
  }
  CHECK(alive(run.command()));
  ::kill(run.pid(), SIGKILL);

  CHECK(gone(grandchild));
  CHECK(gone(run.guardian()));
}

TEST_CASE("a guardian that was stopped while rlock was stopped goes on when rlock is killed") {
  GuardedRun run{{.command = {"sh", "-c", "sleep 74 & echo $! >$SAID; wait"}}};
  REQUIRE(eventually([&] { return run.begun(); }));
  const pid_t grandchild = std::stoi(run.said());
  ::kill(run.pid(), SIGSTOP);
  REQUIRE(eventually([&] { return state_of(run.pid()) == 'T'; }));
  ::kill(run.guardian(), SIGSTOP);
  REQUIRE(eventually([&] { return state_of(run.guardian()) == 'T'; }));

  ::kill(run.pid(), SIGKILL);

  CHECK(gone(grandchild));
  CHECK(gone(run.guardian()));
}

TEST_CASE("if all processes of a run are stopped and continued, in any order, its guardian runs") {
  for (const bool guardian_first : {true, false}) {
    GuardedRun run{{.command = {"sh", "-c", "sleep 75 & echo $! >$SAID; wait"}}};
    REQUIRE(eventually([&] { return run.begun(); }));
    std::vector<pid_t> all{run.guardian(), run.command(), run.pid()};
    for (const pid_t pid : all) ::kill(pid, SIGSTOP);
    REQUIRE(eventually([&] { return state_of(run.pid()) == 'T'; }));
    if (!guardian_first) std::ranges::reverse(all);
    for (const pid_t pid : all) ::kill(pid, SIGCONT);

    // rlock may have seen that its guardian was stopped, or not.
    CHECK(eventually([&] { return alive(run.guardian()) && state_of(run.guardian()) != 'T'; }));
    CHECK(alive(run.command()));
    ::kill(run.pid(), SIGKILL);
    CHECK(gone(std::stoi(run.said())));
  }
}

TEST_CASE("a guardian that replaces another knows the deadlines as they are now") {
  GuardedRun run{{.command = {"sleep", "72"},
                  .stop = Milliseconds{1000},
                  .kill = Milliseconds{1000},
                  .moved = Milliseconds{60000}}};
  const pid_t first = run.guardian();
  CHECK(throughout([&] { return alive(run.command()); }, 1100ms));

  ::kill(first, SIGKILL);
  REQUIRE(eventually([&] { return run.guardian() != first && run.guardian() > 0; }));
  CHECK(throughout([&] { return alive(run.command()); }, 100ms));
}

TEST_CASE("a guardian uses hardly any processor time after the orders of 300 renewals") {
  CHECK(with_guardian([](Loop& loop, std::optional<Guardian>& guardian) {
          for (int renewal = 0; renewal < 300; ++renewal) {
            guardian->set_deadlines(
                {plus(loop.now(), Milliseconds{600'000}), plus(loop.now(), Milliseconds{600'000 + renewal})});
            ::usleep(1000);  // so the guardian reads the orders one by one
          }
          clockid_t clock{};
          timespec before{}, after{};
          if (::clock_getcpuclockid(guardian->pid(), &clock) != 0 || ::clock_gettime(clock, &before) != 0)
            return false;
          ::usleep(300'000);
          if (::clock_gettime(clock, &after) != 0) return false;
          const long used =
              (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1'000'000;
          return used < 30;
        }) == 0);
}

TEST_CASE("if rlock was killed, its guardian releases once no process of the command lives in any session") {
  GuardedRun run{{.command = {"sh", "-c", "setsid sleep 60 & echo $! >$SAID; exec sleep 61"},
                  .marks = {"GUARDED=" + std::to_string(::getpid())}}};
  REQUIRE(eventually([&] { return run.said().ends_with('\n'); }));
  const pid_t apart = std::stoi(run.said());
  REQUIRE(eventually([&] { return ::getsid(apart) == apart; }));
  ::kill(run.pid(), SIGKILL);

  CHECK(gone(run.command()));
  CHECK(throughout([&] { return run.released().empty() && alive(run.guardian()); }, 300ms));
  CHECK(alive(apart));
  ::kill(apart, SIGKILL);
  CHECK(eventually([&] { return run.released() == "killed"; }));
  CHECK(gone(run.guardian()));
}

TEST_CASE("a guardian looks for the command's processes again and again, and remembers those that it saw") {
  GuardedRun run{
      {.command = {"sh", "-c", "sleep 0.1; setsid env -i sleep 60 & echo $! >$SAID; exec sleep 61"}}};
  const auto wakes = [&] {  // the guardian sleeps after each look, so this number grows
    const std::string status = read_file("/proc/" + std::to_string(run.guardian()) + "/status");
    const std::string line = "\nvoluntary_ctxt_switches:";
    return std::atoi(status.c_str() + status.find(line) + line.size());
  };
  REQUIRE(eventually([&] { return run.said().ends_with('\n'); }));
  const pid_t apart = std::stoi(run.said());
  REQUIRE(eventually([&] { return proc_text(apart, "comm") == "sleep\n"; }));
  const int before = wakes();
  CHECK(eventually([&] { return wakes() > before + 1; }));
  ::kill(run.pid(), SIGKILL);

  CHECK(gone(run.command()));
  CHECK(throughout([&] { return run.released().empty(); }, 300ms));
  CHECK(alive(apart));
  ::kill(apart, SIGKILL);
  CHECK(eventually([&] { return run.released() == "killed"; }));
}

TEST_CASE("after KILL, a guardian releases for an rlock that is stopped, but not for one that runs") {
  for (const bool stands_still : {true, false}) {
    CAPTURE(stands_still);
    GuardedRun run{{.command = {"sleep", "61"}, .stop = Milliseconds{300}, .kill = Milliseconds{600}}};
    if (stands_still) ::kill(run.pid(), SIGSTOP);
    CHECK(gone(run.command()));
    if (stands_still) CHECK(eventually([&] { return run.released() == "stopped"; }));
    CHECK(gone(run.guardian()));
    CHECK(run.released() == (stands_still ? "stopped" : ""));
  }
}

TEST_CASE("after the command's end a guardian signals nothing, and releases if rlock is killed") {
  for (const bool replaced : {false, true}) {
    CAPTURE(replaced);
    // Another group stands for one that has got the number of the command's group.
    Process other{{"sleep", "66"}};
    ::setpgid(other.pid(), other.pid());
    GuardedRun run{{.command = {"sleep", "67"},
                    .stop = Milliseconds{200},
                    .kill = Milliseconds{400},
                    .group = other.pid(),
                    .ended = true}};
    const pid_t first = run.guardian();
    if (replaced) {
      ::kill(first, SIGKILL);
      REQUIRE(eventually([&] { return run.guardian() != first; }));
    }
    CHECK(throughout([&] { return other.running() && alive(run.command()); }, 700ms));
    ::kill(run.pid(), SIGKILL);
    CHECK(throughout([&] { return other.running() && run.released().empty(); }, 300ms));
    other.signal(SIGKILL);
    CHECK(eventually([&] { return run.released() == "killed3"; }));
    CHECK(gone(run.guardian()));
  }
}

TEST_CASE("a guardian that is destroyed after the command's end does not take us for killed") {
  TempDir folder;
  CHECK(in_another_process([&] {
          Loop loop;
          Signals signals{loop};
          Guardian guardian{
              loop,
              signals,
              {.when_nobody_lives = [&](const LeftAlone&) { write_file(folder / "released", "x"); }},
              {}};
          guardian.set_ended(0);
          return 0;
        }) == 0);
  CHECK(read_file(folder / "released").empty());
}

TEST_CASE("a guardian ends when the command has ended") {
  GuardedRun run{{.command = {"sh", "-c", "sleep 0.2; exit 4"}}};
  int status = 0;
  ::waitpid(run.pid(), &status, 0);

  CHECK(WEXITSTATUS(status) == 4);
  CHECK(gone(run.guardian()));
}

TEST_CASE("a guardian lives apart: own session, no descriptors but its own two, no signals, another name") {
  GuardedRun run{{.command = {"sleep", "64"}}};
  const std::string proc = "/proc/" + std::to_string(run.guardian());
  REQUIRE(eventually([&] { return read_file(proc + "/comm") == "guardian\n"; }));

  CHECK(::getsid(run.guardian()) == run.guardian());
  CHECK(eventually([&] { return output_of({"ls", proc + "/fd"}).size() <= 4; }));  // "0\n5\n"
  CHECK(contains(read_file(proc + "/status"), "SigBlk:\tfffffffe7ffbfeff"));
  CHECK(joined(split(read_file(proc + "/cmdline"), '\0'), "") == "guardian");
  CHECK(read_file(proc + "/environ") == read_file("/proc/self/environ"));
  for (int number : {SIGTERM, SIGINT, SIGHUP}) ::kill(run.guardian(), number);
  CHECK(throughout([&] { return alive(run.guardian()); }, 50ms));
}
