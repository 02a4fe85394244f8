#include "loop/guardian.h"

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/text.h"
#include "loop/child.h"
#include "loop/family.h"
#include "loop/signals.h"
#include "support/eventually.h"
#include "support/forked.h"
#include "support/process.h"
#include "support/profile.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// As before Linux 5.9, and in containers whose filter of system calls is older.
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

/// From here on our /proc/PID/environ is of that size. Any process may do so, where the kernel can checkpoint
/// processes.
[[maybe_unused]] bool claim_environment(std::size_t size) {
  const std::vector<std::string> fields = split(read_file("/proc/self/stat"), ' ');
  const auto field = [&](std::size_t number) {
    return std::stoull(fields.at(number - 1));
  };  // as proc(5) counts
  void* const where =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  prctl_mm_map map{};
  map.start_code = field(26);
  map.end_code = field(27);
  map.start_stack = field(28);
  map.start_data = field(45);
  map.end_data = field(46);
  map.start_brk = field(47);
  map.brk = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  map.arg_start = field(48);
  map.arg_end = field(49);
  map.env_start = reinterpret_cast<std::uintptr_t>(where);
  map.env_end = map.env_start + size - 1;
  map.exe_fd = static_cast<std::uint32_t>(-1);
  return where != MAP_FAILED && ::prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0;
}

/// A process that guards a command as rlock does, and does nothing else. What it knows it writes into files.
class GuardedRun {
 public:
  struct Plan {
    Words command;
    Milliseconds stop{60000};
    Milliseconds kill{60000};
    std::vector<std::string> marks = {};
    Milliseconds moved{0};    ///< then the guardian is told that both are so far away; 0: they stay
    Milliseconds late{0};     ///< how long it takes until the command's process says who it is
    pid_t told = 0;           ///< the group that it names instead of its own
    bool old_kernel = false;  ///< one without close_range(2)
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
  std::string file() const { return folder_ / "said"; }

 private:
  [[noreturn]] void live(const Plan& plan) {
    if (plan.old_kernel) forget_close_range();
    Loop loop;
    Signals signals{loop};
    const TimePoint now = Clock::now();
    Guardian guardian{loop,
                      {.signal = SIGTERM, .session = ::getsid(0), .marks = plan.marks},
                      {plus(now, plan.stop), plus(now, plan.kill)}};
    if (plan.moved > Milliseconds{0}) guardian.tell({plus(now, plan.moved), plus(now, plan.moved)});
    Variables variables{{"SAID", file()}};
    for (const std::string& mark : plan.marks)
      variables.emplace_back(mark.substr(0, mark.find('=')), mark.substr(mark.find('=') + 1));
    Child child{loop, {plan.command, variables}, [&](pid_t self) {
                  ::usleep(static_cast<useconds_t>(plan.late.count() * 1000));
                  guardian.tell_group(plan.told > 0 ? plan.told : self);
                  signals.restore();
                }};
    write_file(folder_ / "guardian", std::to_string(guardian.pid()));
    write_file(folder_ / "command", std::to_string(child.pid()));
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

bool gone(pid_t pid) {
  return eventually([&] { return !alive(pid); });
}

}  // namespace

TEST_CASE("a guardian kills the whole group when we are killed") {
  GuardedRun run{{.command = {"sh", "-c", "trap '' TERM; sleep 61 & echo $! >$SAID; wait"}}};
  REQUIRE(eventually([&] { return !run.said().empty(); }));
  const pid_t grandchild = std::stoi(run.said());

  ::kill(run.pid(), SIGKILL);

  CHECK(gone(run.command()));
  CHECK(gone(grandchild));
  CHECK(gone(run.guardian()));
}

TEST_CASE("a guardian hears of our end where it cannot close all descriptors at once") {
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

TEST_CASE("a guardian kills what does not obey, stopped or not") {
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

TEST_CASE("a guardian kills who begins when all is over, however soon after it has looked around") {
  for (const Milliseconds late : {Milliseconds{320}, Milliseconds{360}, Milliseconds{500}}) {
    CAPTURE(late.count());
    GuardedRun run{
        {.command = {"sleep", "65"}, .stop = Milliseconds{100}, .kill = Milliseconds{300}, .late = late}};
    ::kill(run.pid(), SIGSTOP);
    CHECK(gone(run.command()));
  }
}

TEST_CASE("a guardian spares a stranger's group that has got the number of its own") {
  Process stranger{{"sleep", "68"}, {.own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(stranger.pid()) == stranger.pid(); }));
  GuardedRun run{{.command = {"sleep", "69"}, .told = stranger.pid()}};

  ::kill(run.pid(), SIGKILL);

  CHECK(gone(run.guardian()));
  CHECK(stranger.running());
}

TEST_CASE("a group whose first process has gone is known by its session") {
  TempDir folder;
  const auto orphan = [&](bool own_session) {
    Process shell{{"bash", "-c", "set -m; (sleep 70 & echo $! >" + (folder / "pid") + ") & wait"},
                  {.own_session = own_session}};
    REQUIRE(shell.exit_code() == 0);
    const pid_t pid = std::stoi(read_file(folder / "pid"));
    Family family{::getpgid(pid), ::getsid(0), {}};
    REQUIRE_FALSE(alive(family.group()));
    CHECK(family.group_lives() == !own_session);
    family.signal(SIGKILL);
    CHECK((own_session ? throughout([&] { return alive(pid); }, 50ms) : gone(pid)));
    CHECK_FALSE(family.group_lives());
  };

  orphan(false);
  orphan(true);
}

TEST_CASE("a guardian finds those who have left the group, by their environment") {
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

  // A pause between two guardians would take 200 ms from the start of the first.
  CHECK(eventually([&] { return run.guardian() != first && run.guardian() > 0; }));
  const pid_t second = run.guardian();
  CHECK(alive(second));
  MESSAGE("replaced after " << watch.elapsed().count() << " ms");
  ::kill(run.pid(), SIGKILL);
  CHECK(gone(run.command()));
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

TEST_CASE("a guardian goes when the command has ended") {
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
  CHECK(read_file(proc + "/status").find("SigBlk:\tfffffffe") != std::string::npos);
  CHECK(read_file(proc + "/cmdline").find("rlock") == std::string::npos);
  for (int number : {SIGTERM, SIGINT, SIGHUP}) ::kill(run.guardian(), number);
  CHECK(throughout([&] { return alive(run.guardian()); }, 50ms));
}

TEST_CASE("a mark may be the first lines of what is there, not part of a line") {
  Process stray{{"sleep", "67"}, {.env = {{"RLOCK_TEST_STACK", "a b\nc d"}}, .own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(stray.pid()) == stray.pid(); }));
  const auto found = [&](const std::string& mark) {
    return Family{0, stray.pid(), {mark}}.all().size() == 1;
  };

  CHECK(eventually([&] { return found("RLOCK_TEST_STACK=a b"); }));
  CHECK(found("RLOCK_TEST_STACK=a b\nc d"));
  CHECK_FALSE(found("RLOCK_TEST_STACK=a"));
  CHECK_FALSE(found("RLOCK_TEST_STACK=c d"));
}

TEST_CASE("an environment without end costs whoever reads it little") {
  if (kSanitized) return skipped("the shadow of AddressSanitizer is beyond every limit");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t huge = ::fork();
  if (huge == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool may = claim_environment(std::size_t{4} << 30);
    (void)!::write(ready[1], may ? "y" : "n", 1);
    for (;;) ::pause();
  }
  char may = 'n';
  CHECK(::read(ready[0], &may, 1) == 1);
  const int status = in_another_process([&] {
    const rlimit little{.rlim_cur = std::size_t{256} << 20, .rlim_max = std::size_t{256} << 20};
    ::setrlimit(RLIMIT_DATA, &little);
    return Family{0, ::getsid(0), {"RLOCK_TEST_NOBODY=1"}}.all().empty() ? 0 : 1;
  });
  ::kill(huge, SIGKILL);
  ::waitpid(huge, nullptr, 0);
  for (const int end : ready) ::close(end);

  if (may == 'n') return skipped("this kernel lets no process say where its environment is");
  CHECK(status == 0);
}

TEST_CASE("a family is its group and those who carry its marks") {
  TempDir folder;
  const std::string mark = "RLOCK_TEST_FAMILY=" + std::to_string(::getpid());
  Process group{{"bash", "-c",
                 "set -m; sleep 65 & echo $! >>" + (folder / "pids") + "; setsid sleep 66 & echo $! >>" +
                     (folder / "pids") + "; wait"},
                {.env = {{"RLOCK_TEST_FAMILY", std::to_string(::getpid())}}, .own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(group.pid()) == group.pid(); }));
  Family family{group.pid(), ::getsid(group.pid()), {mark}};
  Family strict{group.pid(), ::getsid(group.pid()), {mark, "RLOCK_TEST_NOBODY=1"}};

  REQUIRE(eventually([&] { return split(read_file(folder / "pids"), '\n').size() == 3; }));
  // The one sleep has a group of its own; the other has left the session.
  CHECK(
      eventually([&] { return family.all().size() == 2 && family.in_group() == std::vector{group.pid()}; }));
  CHECK(strict.all().size() == 1);
  CHECK(family.signal(SIGKILL).empty());
  CHECK(eventually([&] { return family.all().empty(); }));
}

TEST_CASE(
    "the next signal does not wait for a look at all processes: the group has got the last one by then") {
  TempDir folder;
  Process group{
      {"bash", "-c",
       "trap 'echo told >>" + (folder / "told") + "' TERM; set -m; sh -c \"trap 'echo other >>" +
           (folder / "told") + "' TERM; echo on; while :; do sleep 0.01; done\" & while :; do wait; done"},
      {.env = {{"RLOCK_TEST_FAMILY", std::to_string(::getpid())}}, .own_session = true}};
  REQUIRE(eventually([&] { return group.out() == "on\n"; }));
  Family family{group.pid(), group.pid(), {"RLOCK_TEST_FAMILY=" + std::to_string(::getpid())}};
  REQUIRE(family.all().size() >= 2);

  CHECK(family.all(Clock::now()).empty());
  CHECK(family.signal(SIGTERM, Clock::now()).empty());

  CHECK(eventually([&] { return read_file(folder / "told") == "told\n"; }));
  CHECK(family.signal(SIGTERM).empty());
  CHECK(eventually([&] { return read_file(folder / "told").find("other") != std::string::npos; }));
  CHECK(family.signal(SIGKILL).empty());
  CHECK(eventually([&] { return family.all().empty(); }));
}
