#include "family/search_apart.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "process/processes.h"
#include "support/eventually.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using Pids = std::vector<pid_t>;

TimePoint in(Milliseconds time) { return plus(Clock::now(), time); }

/// True: no process that we started is left, dead or alive.
bool nobody_is_left() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

}  // namespace

TEST_CASE("the matching candidates are found, in their order") {
  Pids many;
  for (pid_t pid = 1; pid <= 5000; ++pid) many.push_back(pid);
  SearchApart search{many, [](pid_t pid) { return pid % 1000 == 0; }, 500ms};
  search.go_on(in(30s));
  CHECK(search.found() == Pids{1000, 2000, 3000, 4000, 5000});
  CHECK(search.unanswered().empty());
  SearchApart none{{}, [](pid_t) { return true; }, 500ms};
  none.go_on(in(30s));
  CHECK(none.found().empty());
}

TEST_CASE("a candidate that blocks the search delays no other, and is asked about again at the end") {
  TempDir folder;
  SearchApart search{{1, 2, 3, 4},
                     [&](pid_t pid) {
                       while (pid == 2 && !std::filesystem::exists(folder / "go")) ::usleep(1000);
                       return pid != 3;
                     },
                     500ms};
  const auto found = [&] { return search.go_on(in(10ms)), search.found(); };
  CHECK(eventually([&] { return found() == Pids{1}; }));
  CHECK_FALSE(search.asked_all());
  CHECK(eventually([&] { return found() == Pids{1, 4}; }));
  CHECK(search.asked_all());
  CHECK(std::ranges::equal(search.unanswered(), Pids{2}));
  CHECK_FALSE(nobody_is_left());

  write_file(folder / "go", "");
  CHECK(eventually([&] { return found() == Pids{1, 4, 2} && search.unanswered().empty(); }));
}

TEST_CASE("a search takes no more time than it is given, and leaves no process behind") {
  {
    const auto sleeps = [](pid_t pid) {
      while (pid > 1) ::pause();
      return true;
    };
    SearchApart search{{2, 3, 4, 5, 6, 7, 8, 9}, sleeps, 500ms};
    const StopWatch watch;
    search.go_on(in(200ms));
    CHECK(watch.elapsed() < 2s);  // the eight candidates do not get half a second each
    CHECK(search.found().empty());
    CHECK(search.unanswered().size() == 8);
    SearchApart late{{1}, sleeps, 500ms};
    late.go_on(Clock::now());
    CHECK(late.found().empty());
  }
  CHECK(nobody_is_left());
}

TEST_CASE("a search goes on if its helper ends, stands still or cannot be started") {
  const pid_t self = ::getpid();
  for (const int signal : {SIGKILL, SIGSTOP}) {
    CAPTURE(signal);
    SearchApart search{{1, 2, 3},
                       [&](pid_t pid) {
                         if (pid == 2 && ::getpid() != self) ::kill(::getpid(), signal);
                         return true;
                       },
                       500ms};
    while (!search.asked_all()) search.go_on(in(10ms));
    CHECK(search.found() == (signal == SIGKILL ? Pids{1, 2, 3} : Pids{1, 3}));
  }
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};  // no pipe can be made
  ::setrlimit(RLIMIT_NOFILE, &none);
  SearchApart search{{1, 2, 3}, [&](pid_t pid) { return pid == 2 && ::getpid() == self; }, 500ms};
  search.go_on(in(30s));
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(search.found() == Pids{2});
}

TEST_CASE("a helper has a descriptor to read /proc, and none of ours") {
  const pid_t self = ::getpid();
  const int first = ::dup(0), second = ::dup(0);
  for (const int fd : {first, second}) ::close(fd);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit two_free{static_cast<rlim_t>(second) + 1, before.rlim_max};  // for the pipe
  ::setrlimit(RLIMIT_NOFILE, &two_free);
  SearchApart search{{self},
                     [&](pid_t pid) {
                       return ::getpid() != self && proc_text(pid, "stat").has_value() &&
                              ::fcntl(2, F_GETFD) < 0;
                     },
                     500ms};
  search.go_on(in(30s));
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(search.found() == Pids{self});
}

TEST_CASE("a helper that finds no descriptor to read /proc gives no answer") {
  const pid_t self = ::getpid();
  SearchApart search{{1, 2, 3},
                     [&](pid_t pid) {
                       if (pid != 2 || ::getpid() == self) return true;
                       const rlimit none{.rlim_cur = 0, .rlim_max = 0};
                       ::setrlimit(RLIMIT_NOFILE, &none);
                       return proc_text(pid, "environ").has_value();
                     },
                     500ms};
  search.go_on(in(30s));
  CHECK(search.found() == Pids{1, 2, 3});
}
