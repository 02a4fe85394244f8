#include "family/find_apart.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "support/eventually.h"

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
  const Pids found = find_apart(many, [](pid_t pid) { return pid % 1000 == 0; }, in(Milliseconds{30000}));
  CHECK(found == Pids{1000, 2000, 3000, 4000, 5000});
  CHECK(find_apart({}, [](pid_t) { return true; }, in(Milliseconds{30000})).empty());
  CHECK(nobody_is_left());
}

TEST_CASE("a candidate that blocks its helper delays no other candidate") {
  const auto sleeps = [](pid_t pid) {
    while (pid == 2) ::pause();
    return true;
  };
  const StopWatch watch;
  CHECK(find_apart({1, 2, 3}, sleeps, in(Milliseconds{30000})) == Pids{1, 3});
  CHECK(watch.elapsed() < 15s);
  CHECK(nobody_is_left());
}

TEST_CASE("a search ends in time, with the candidates found by then") {
  const auto sleeps = [](pid_t pid) {
    while (pid > 1) ::pause();
    return true;
  };
  const StopWatch watch;
  CHECK(find_apart({2, 3, 4, 5, 6, 7, 8, 9}, sleeps, in(Milliseconds{200})).empty());
  CHECK(watch.elapsed() < 2s);  // the eight candidates do not get half a second each
  CHECK(find_apart({1, 2}, sleeps, in(Milliseconds{3000})) == Pids{1});
  CHECK(find_apart({1}, sleeps, Clock::now()).empty());
  CHECK(nobody_is_left());
}

TEST_CASE("if a helper is killed, another one asks about the remaining candidates") {
  const auto dies = [](pid_t pid) {
    if (pid == 2) ::kill(::getpid(), SIGKILL);
    return true;
  };
  CHECK(find_apart({1, 2, 3}, dies, in(Milliseconds{30000})) == Pids{1, 3});
  CHECK(nobody_is_left());
}
