#include "process/daemon.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// Starts a daemon that runs `script`, and returns the output of the script.
std::string facts(const TempDir& dir, const std::string& script, int keep = -1) {
  const std::string file = dir / "facts";
  start_daemon(
      {.argv = {"/bin/sh", "-c", "exec > " + file + ".new; " + script + "; mv " + file + ".new " + file},
       .environment = {"PATH=/usr/bin:/bin", "ONLY=this"},
       .keep = keep});
  REQUIRE(eventually([&] { return ::access(file.c_str(), F_OK) == 0; }));
  return read_file(file);
}

}  // namespace

TEST_CASE("a daemon has a session of its own and no terminal, and is not our child") {
  const TempDir dir;
  const std::string said = facts(dir, "ps -o ppid=,sid=,tty= -p $$; echo own $$; pwd");
  CHECK(std::stoi(said) != ::getpid());
  CHECK(std::stoi(said.substr(said.find_first_not_of(' ') + std::to_string(std::stoi(said)).size())) !=
        ::getsid(0));
  CHECK(contains(said, " ?\n"));
  CHECK(contains(said, "\n/\n"));
}

TEST_CASE("a daemon starts in the opened folder, even if its path leads elsewhere by then") {
  const TempDir dir;
  REQUIRE(::mkdir((dir / "checked").c_str(), 0700) == 0);
  const Descriptor folder{::open((dir / "checked").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  REQUIRE(::rename((dir / "checked").c_str(), (dir / "moved").c_str()) == 0);
  REQUIRE(::mkdir((dir / "checked").c_str(), 0700) == 0);
  start_daemon({.argv = {"/bin/sh", "-c", "pwd -P > new; mv new facts"},
                .environment = {"PATH=/usr/bin:/bin"},
                .folder = folder.number()});
  REQUIRE(eventually([&] { return ::access((dir / "moved/facts").c_str(), F_OK) == 0; }));
  CHECK(read_file(dir / "moved/facts") == (dir / "moved") + "\n");
}

TEST_CASE("a daemon inherits no environment") {
  const TempDir dir;
  const std::string said = facts(dir, "env");
  CHECK(contains(said, "ONLY=this"));
  CHECK_FALSE(contains(said, "HOME="));
}

TEST_CASE("a daemon has no ignored and no blocked signals, even if we have") {
  const TempDir dir;
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &mask);
  const std::string said = facts(dir, "cat /proc/self/status");
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGPIPE, before);

  CHECK(contains(said, "SigBlk:\t0000000000000000"));
  CHECK(contains(said, "SigIgn:\t0000000000000000"));
}

TEST_CASE("a daemon has no descriptor of ours but the one that it shall keep") {
  const TempDir dir;
  const Descriptor inherited{::open("/dev/zero", O_RDONLY)};  // without O_CLOEXEC
  const Descriptor kept{::open((dir / "kept").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};

  const std::string without = facts(dir, "readlink /proc/$$/fd/*");
  CHECK_FALSE(contains(without, "/dev/zero"));
  CHECK_FALSE(contains(without, "pipe:"));
  CHECK(contains(without, "/dev/null"));

  ::unlink((dir / "facts").c_str());
  const std::string with = facts(dir, "readlink /proc/$$/fd/*", kept.number());
  CHECK(contains(with, dir / "kept"));
  CHECK_FALSE(contains(with, "/dev/zero"));
}

TEST_CASE("a lock in the descriptor that a daemon keeps ends with the daemon") {
  const TempDir dir;
  Descriptor kept{::open((dir / "kept").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  REQUIRE(::flock(kept.number(), LOCK_EX) == 0);
  const pid_t daemon = std::stoi(facts(dir,
                                       "echo $$; sleep 60 >/dev/null & exec >/dev/null; mv " +
                                           (dir / "facts.new") + " " + (dir / "facts") + "; wait",
                                       kept.number()));
  kept.reset();

  const Descriptor other{::open((dir / "kept").c_str(), O_RDWR | O_CLOEXEC)};
  CHECK(::flock(other.number(), LOCK_EX | LOCK_NB) != 0);
  ::kill(-::getpgid(daemon), SIGKILL);
  CHECK(eventually([&] { return ::flock(other.number(), LOCK_EX | LOCK_NB) == 0; }));
}

TEST_CASE("a daemon that cannot be executed says why") {
  try {
    start_daemon({.argv = {"/nowhere/redis-server"}, .environment = {}});
    FAIL("was started");
  } catch (const Error& error) {
    CHECK(error.kind() == Error::system);
    CHECK(std::string{error.what()} == "cannot start '/nowhere/redis-server': No such file or directory");
  }
}
