#include "base/ancestry.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "support/eventually.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("a process is known by its number and its start, and a zombie does not live") {
  Process sleeper{{"sleep", "60"}};
  const auto process = process_of(sleeper.pid());
  REQUIRE(process.has_value());
  CHECK(process->pid == sleeper.pid());
  CHECK(process->started > 0);
  CHECK(lives(*process));
  CHECK_FALSE(lives({process->pid, process->started + 1}));
  ::kill(sleeper.pid(), SIGKILL);  // its parent has not reaped it: it is a zombie
  CHECK(eventually([&] { return !lives(*process); }));
}

TEST_CASE("a process lives as long as one of its threads, also when its first thread has ended") {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::thread{[] { ::pause(); }}.detach();
    ::syscall(SYS_exit, 0);  // ends this thread only
  }
  REQUIRE(
      eventually([&] { return stat_of(pid) && stat_of(pid)->state == 'Z' && stat_of(pid)->threads > 1; }));
  const auto process = process_of(pid);
  CHECK(process.has_value());
  CHECK((process && lives(*process)));
  ::kill(pid, SIGKILL);
  CHECK(eventually([&] { return !process_of(pid); }));
  ::waitpid(pid, nullptr, 0);
}

TEST_CASE("a process lives although no descriptor is free to look at it") {
  Process sleeper{{"sleep", "60"}};
  const auto process = process_of(sleeper.pid());
  REQUIRE(process.has_value());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const bool living = lives(*process);
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(living);
}

TEST_CASE("our parent is an ancestor, and we ourselves are none") {
  CHECK(is_ancestor(::getppid()));
  CHECK_FALSE(is_ancestor(::getpid()));
  CHECK_FALSE(process_of(4194305).has_value());
}
