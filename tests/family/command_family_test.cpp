// The family of a command: which processes belong to it, and that a signal reaches them.

#include "family/command_family.h"

#include <doctest/doctest.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/forked.h"
#include "support/process.h"
#include "support/profile.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// Makes our /proc/PID/environ this large. False: this kernel cannot do that, for example because it was built
/// without support for checkpoints.
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

}  // namespace

TEST_CASE("a group without its first process is known by its session") {
  TempDir folder;
  const auto orphan = [&](bool own_session) {
    Process shell{{"bash", "-c", "set -m; (sleep 70 & echo $! >" + (folder / "pid") + ") & wait"},
                  {.own_session = own_session}};
    REQUIRE(shell.exit_code() == 0);
    const pid_t pid = std::stoi(read_file(folder / "pid"));
    CommandFamily family{::getpgid(pid), ::getsid(0), {}};
    REQUIRE_FALSE(alive(family.group()));
    CHECK(family.group_lives() == !own_session);
    family.signal(SIGKILL, Clock::now(), kNever);
    CHECK((own_session ? throughout([&] { return alive(pid); }, 50ms) : gone(pid)));
    CHECK_FALSE(family.group_lives());
  };

  orphan(false);
  orphan(true);
}

TEST_CASE("a mark may match the first lines of a value, but not a part of a line") {
  Process stray{{"sleep", "67"}, {.env = {{"RLOCK_TEST_STACK", "a b\nc d"}}, .own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(stray.pid()) == stray.pid(); }));
  const auto found = [&](const std::string& mark) {
    return CommandFamily{0, stray.pid(), {mark}}.all(Clock::now()).size() == 1;
  };

  CHECK(eventually([&] { return found("RLOCK_TEST_STACK=a b"); }));
  CHECK(found("RLOCK_TEST_STACK=a b\nc d"));
  CHECK_FALSE(found("RLOCK_TEST_STACK=a"));
  CHECK_FALSE(found("RLOCK_TEST_STACK=c d"));
}

TEST_CASE("an endless environment costs its reader little") {
  if (kSanitized) return skipped("the shadow of AddressSanitizer is beyond every limit");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t huge = ::fork();
  if (huge == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool may = claim_environment(std::size_t{1} << 30);  // four times the memory of its reader
    (void)!::write(ready[1], may ? "y" : "n", 1);
    for (;;) ::pause();
  }
  char may = 'n';
  CHECK(::read(ready[0], &may, 1) == 1);
  const int status = in_another_process([&] {
    const rlimit little{.rlim_cur = std::size_t{256} << 20, .rlim_max = std::size_t{256} << 20};
    ::setrlimit(RLIMIT_DATA, &little);
    const auto environment = proc_text(huge, "environ");
    return environment && environment->size() < std::size_t{100} << 20 ? 0 : 1;
  });
  ::kill(huge, SIGKILL);
  ::waitpid(huge, nullptr, 0);
  for (const int end : ready) ::close(end);

  if (may == 'n') return skipped("this kernel lets no process say where its environment is");
  CHECK(status == 0);
}

TEST_CASE("a family is its group and the processes with its marks") {
  TempDir folder;
  const std::string mark = "RLOCK_TEST_FAMILY=" + std::to_string(::getpid());
  Process group{{"bash", "-c",
                 "set -m; sleep 65 & echo $! >>" + (folder / "pids") + "; setsid sleep 66 & echo $! >>" +
                     (folder / "pids") + "; wait"},
                {.env = {{"RLOCK_TEST_FAMILY", std::to_string(::getpid())}}, .own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(group.pid()) == group.pid(); }));
  CommandFamily family{group.pid(), ::getsid(group.pid()), {mark}};
  CommandFamily strict{group.pid(), ::getsid(group.pid()), {mark, "RLOCK_TEST_NOBODY=1"}};

  REQUIRE(eventually([&] { return split(read_file(folder / "pids"), '\n').size() == 3; }));
  // One sleep has a process group of its own; the other one has left the session.
  CHECK(eventually(
      [&] { return family.all(Clock::now()).size() == 2 && family.in_group() == std::vector{group.pid()}; }));
  CHECK(eventually([&] { return strict.all(Clock::now()).size() == 1 && strict.unanswered().empty(); }));
  // This family has seen no process. But the mark counts in any session, so the family is not surely gone.
  CommandFamily elsewhere{0, ::getsid(0), {mark}};
  CHECK(eventually([&] { return elsewhere.all(Clock::now()).empty() && elsewhere.unanswered().empty(); }));
  CHECK_FALSE(elsewhere.surely_gone(Clock::now()));
  CommandFamily nobody{0, ::getsid(0), {"RLOCK_TEST_NOBODY=1"}};
  if (Family::sees_everybody()) {
    CHECK(eventually([&] { return nobody.surely_gone(Clock::now()); }));
  } else {
    CHECK_FALSE(nobody.surely_gone(Clock::now()));
  }
  family.look();
  // Each of the three processes counts once, although both the look and the mark show it.
  CHECK(eventually([&] { return (void)family.all(Clock::now()), family.out_of_reach().size() == 3; }));
  CHECK(family.signal(SIGKILL, Clock::now(), kNever).empty());
  CHECK(eventually([&] { return family.all(Clock::now()).empty(); }));
}

TEST_CASE("a process with the marks counts, although its session is older than the command") {
  TempDir folder;
  const std::string mark = "RLOCK_TEST_FAMILY=" + std::to_string(::getpid());
  REQUIRE(::mkfifo((folder / "go").c_str(), 0600) == 0);
  Process daemon{{"bash", "-c", "read <" + (folder / "go") + "; " + mark + " sleep 66 & wait"},
                 {.own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(daemon.pid()) == daemon.pid(); }));
  Process command{{"sleep", "65"}, {.own_session = true}};
  REQUIRE(eventually([&] { return ::getsid(command.pid()) == command.pid(); }));
  CommandFamily family{command.pid(), command.pid(), {mark}};
  const auto apart = [&] {
    do static_cast<void>(family.all(Clock::now()));
    while (!family.unanswered().empty());
    std::vector<pid_t> found = family.out_of_reach();
    std::erase(found, command.pid());
    return found;
  };

  CHECK(apart().empty());
  write_file(folder / "go", "\n");
  CHECK(eventually([&] {
    const std::vector<pid_t> found = apart();
    return found.size() == 1 && ::getsid(found.front()) == daemon.pid();
  }));
}

TEST_CASE("a process whose first thread has ended shows its marks in its other threads") {
  const std::string mark = "RLOCK_TEST_FAMILY=" + std::to_string(::getpid());
  Process threads{{"python3", "-c",
                   "import ctypes, os, threading\n"
                   "threading.Thread(target=threading.Event().wait).start()\n"
                   "ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)"},
                  {.env = {{"RLOCK_TEST_FAMILY", std::to_string(::getpid())}}, .own_session = true}};
  REQUIRE(eventually([&] {
    const auto facts = facts_of(threads.pid());
    return facts && facts->state == 'Z' && facts->threads > 1;
  }));
  CommandFamily family{0, threads.pid(), {mark}};
  CHECK(eventually([&] { return family.all(Clock::now()) == std::vector{threads.pid()}; }));
}

TEST_CASE("a chain of processes that each start the next one and end is hardly ever taken for gone") {
  TempDir folder;
  const std::string mark = "RLOCK_TEST_FAMILY=" + std::to_string(::getpid());
  Process command{{"sleep", "65"}, {.own_session = true}};
  const std::string link =
      "[ -e " + (folder / "stop") + " ] || { sleep 0.05; exec setsid -f sh " + (folder / "link") + "; }";
  write_file(folder / "link", link);
  Process chain{{"env", mark, "setsid", "-f", "sh", folder / "link"}};
  REQUIRE(chain.exit_code() == 0);
  CommandFamily family{command.pid(), ::getsid(0), {mark}};
  int gone = 0;
  for (int search = 0; search < 30; ++search) {
    do static_cast<void>(family.all(Clock::now()));
    while (!family.unanswered().empty());
    gone += family.out_of_reach().empty() ? 1 : 0;
  }
  write_file(folder / "stop", "");
  CHECK(gone < 10);  // on a loaded machine a list of /proc may miss a link: seldom
}

TEST_CASE("a family is not surely gone while its session has a process whose environment is hidden") {
  if (::geteuid() != 0) return skipped("only root can start processes of two users");
  const int status = in_another_process([] {
    ::setsid();
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    const pid_t hidden = ::fork();
    if (hidden == 0) {
      ::close(ends[1]);
      char none;
      (void)!::read(ends[0], &none, 1);
      ::_exit(0);
    }
    ::close(ends[0]);
    if (::setresuid(65534, 65534, 65534) != 0) return 77;
    CommandFamily family{0, ::getsid(0), {"RLOCK_TEST_NOBODY=1"}};
    if (!Family::sees_everybody()) return 77;
    const bool before = family.surely_gone(Clock::now());
    ::close(ends[1]);
    ::waitpid(hidden, nullptr, 0);
    const bool after = eventually([&] { return family.surely_gone(Clock::now()); });
    return before ? 3 : !after ? 4 : 0;
  });
  if (WEXITSTATUS(status) == 77)
    return skipped("root may not become another user, or /proc hides others' processes");
  CHECK(status == 0);
}

TEST_CASE(
    "a signal without time to look at all processes reaches the group, and the next signal reaches the others, too") {
  TempDir folder;
  Process group{
      {"bash", "-c",
       "trap 'echo told >>" + (folder / "told") + "' TERM; set -m; sh -c \"trap 'echo other >>" +
           (folder / "told") + "' TERM; echo on; while :; do sleep 0.01; done\" & while :; do wait; done"},
      {.env = {{"RLOCK_TEST_FAMILY", std::to_string(::getpid())}}, .own_session = true}};
  REQUIRE(eventually([&] { return group.out() == "on\n"; }));
  CommandFamily family{group.pid(), group.pid(), {"RLOCK_TEST_FAMILY=" + std::to_string(::getpid())}};
  REQUIRE(eventually([&] { return family.all(Clock::now()).size() >= 2; }));

  CHECK(family.signal(SIGTERM, Clock::now(), Clock::now()).empty());

  CHECK(eventually([&] { return read_file(folder / "told") == "told\n"; }));
  CHECK(family.signal(SIGTERM, Clock::now(), kNever).empty());
  CHECK(eventually([&] { return contains(read_file(folder / "told"), "other"); }));
  CHECK(family.signal(SIGKILL, Clock::now(), kNever).empty());
  CHECK(eventually([&] { return family.all(Clock::now()).empty(); }));
}
