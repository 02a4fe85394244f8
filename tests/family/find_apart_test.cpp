#include "family/find_apart.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
  const Pids found =
      find_apart(many, [](pid_t pid) { return pid % 1000 == 0; }, {in(Milliseconds{30000})}).found;
  CHECK(found == Pids{1000, 2000, 3000, 4000, 5000});
  CHECK(find_apart({}, [](pid_t) { return true; }, {in(Milliseconds{30000})}).found.empty());
  CHECK(nobody_is_left());
}

TEST_CASE("a candidate that blocks its helper delays no other candidate") {
  const auto sleeps = [](pid_t pid) {
    while (pid == 2) ::pause();
    return true;
  };
  const StopWatch watch;
  const FoundApart apart = find_apart({1, 2, 3}, sleeps, {in(Milliseconds{30000})});
  CHECK(apart.found == Pids{1, 3});
  CHECK(apart.silent == Pids{2, 2});
  CHECK(watch.elapsed() < 15s);
  CHECK(nobody_is_left());
}

TEST_CASE("a search ends in time, with the candidates found by then") {
  const auto sleeps = [](pid_t pid) {
    while (pid > 1) ::pause();
    return true;
  };
  const StopWatch watch;
  CHECK(find_apart({2, 3, 4, 5, 6, 7, 8, 9}, sleeps, {in(Milliseconds{200})}).found.empty());
  CHECK(watch.elapsed() < 2s);  // the eight candidates do not get half a second each
  CHECK(find_apart({1, 2}, sleeps, {in(Milliseconds{3000})}).found == Pids{1});
  CHECK(find_apart({1}, sleeps, {Clock::now()}).found.empty());
  CHECK(nobody_is_left());
}

TEST_CASE("a search ends after some candidates that do not answer, and names them") {
  const auto sleeps = [](pid_t pid) {
    while (pid == 2 || pid == 4) ::pause();
    return true;
  };
  const FoundApart apart = find_apart({1, 2, 3, 4, 5, 6}, sleeps, {.silences = 2});
  CHECK(apart.found == Pids{1, 3});
  CHECK(apart.silent == Pids{2, 4});
  CHECK(nobody_is_left());
}

TEST_CASE("a helper that has no descriptor to read /proc gives no answer") {
  const auto lacks_one = [](pid_t pid) {
    if (pid != 2) return true;
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    return proc_text(pid, "environ").has_value();
  };
  const FoundApart apart = find_apart({1, 2, 3}, lacks_one, {in(Milliseconds{30000})});
  CHECK(apart.found == Pids{1, 3});
  CHECK(apart.silent == Pids{2, 2});
}

TEST_CASE("a helper has a descriptor to read /proc, and none of ours") {
  const int first = ::dup(0), second = ::dup(0);
  for (const int fd : {first, second}) ::close(fd);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit two_free{static_cast<rlim_t>(second) + 1, before.rlim_max};  // for the pipe
  ::setrlimit(RLIMIT_NOFILE, &two_free);
  const auto reads = [](pid_t pid) { return proc_text(pid, "stat").has_value() && ::fcntl(2, F_GETFD) < 0; };
  const FoundApart apart = find_apart({::getpid()}, reads, {in(Milliseconds{30000})});
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(apart.found == Pids{::getpid()});
}

TEST_CASE("a search goes on where it was, beside a candidate that does not answer yet") {
  TempDir folder;
  SearchApart search{{1, 2, 3}, [&](pid_t pid) {
                       while (pid == 2 && !std::filesystem::exists(folder / "go")) ::usleep(1000);
                       return pid != 3;
                     }};
  const auto found = [&] { return search.go_on(in(Milliseconds{10})), search.found(); };
  CHECK(eventually([&] { return found() == Pids{1}; }));
  CHECK(found() == Pids{1});
  CHECK(search.unanswered().size() == 2);
  CHECK_FALSE(nobody_is_left());

  write_file(folder / "go", "");
  CHECK(eventually([&] { return found() == Pids{1, 2} && search.unanswered().empty(); }));
}

TEST_CASE("a search goes on with another helper if the first has ended or stands still") {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    TempDir folder;
    SearchApart search{{1, 2, 3}, [&](pid_t pid) {
                         if (pid == 2 && !std::filesystem::exists(folder / "first")) {
                           write_file(folder / "first", "");
                           ::kill(::getpid(), signal);
                         }
                         return true;
                       }};
    CHECK(eventually([&] { return search.go_on(in(Milliseconds{10})), search.unanswered().empty(); }));
    CHECK(search.found() == Pids{1, 2, 3});
  }
}

TEST_CASE("if a helper is killed, another one asks about the remaining candidates") {
  const auto dies = [](pid_t pid) {
    if (pid == 2) ::kill(::getpid(), SIGKILL);
    return true;
  };
  CHECK(find_apart({1, 2, 3}, dies, {in(Milliseconds{30000})}).found == Pids{1, 3});
  CHECK(nobody_is_left());
}
