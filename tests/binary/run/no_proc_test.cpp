#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;

// The command's processes where /proc does not show them: in a chroot, in a sandbox, behind hidepid.

namespace {

/// Hides /proc. The sanitizers read their options from /proc, and need /proc to search leaks: this file turns
/// that search off.
const char* const kNoProc =
    "mount -t tmpfs none /proc && mkdir /proc/self && printf 'ASAN_OPTIONS=detect_leaks=0\\0' > /proc/self/environ && ";

/// True: this test may mount a /proc of its own.
bool may_mount() {
  const bool may = Process{{"unshare", "-rm", "sh", "-c", std::string{kNoProc} + "true"}}.exit_code() == 0;
  if (!may) skipped("no mount namespace for a /proc of our own");
  return may;
}

/// Starts `rlock run -k k OPTIONS -- bash -c COMMAND` without /proc.
Process run_without_proc(const RedisServer& redis, const std::string& options, const std::string& command) {
  Process::Options environment;
  environment.env["COMMAND"] = command;
  return start(redis,
               {"unshare", "-rm", "sh", "-c",
                kNoProc + ("exec \"$RLOCK\" run -k k " + options + " -- bash -c \"$COMMAND\"")},
               environment);
}

/// The shell starts a process that ignores TERM, and prints its pid. TERM ends the shell, but not that
/// process.
const char* const kIgnoresTerm = "(trap '' TERM; exec sleep 60) & echo $!; wait";

pid_t first_line_of(const Process& run) {
  REQUIRE(eventually([&] { return contains(run.out(), "\n"); }));
  return std::stoi(run.out());
}

}  // namespace

TEST_CASE("without /proc no process of the group outlives the lock") {
  if (!may_mount()) return;
  RedisServer redis;
  auto run = run_without_proc(redis, "--max-hold 500ms --kill-after 60s", kIgnoresTerm);
  const pid_t stubborn = first_line_of(run);
  REQUIRE(eventually([&] { return !redis.has("k"); }));

  CHECK_FALSE(alive(stubborn));
  CHECK(run.exit_code() == 124);
  CHECK(
      contains(run.err(), "/proc does not show the command's processes: only its process group is stopped"));
}

TEST_CASE(
    "as the first process of a container whose /proc is another's, rlock does not wait for processes that have ended") {
  if (Process{{"unshare", "-rpf", "true"}}.exit_code() != 0) return skipped("no pid namespace of our own");
  RedisServer redis;
  for (int i = 0; i < 8; ++i) {
    CAPTURE(i);
    Process run =
        start(redis, {"unshare", "-rpf", "sh", "-c",
                      "exec \"$RLOCK\" run -q -k k --lease 6s --max-hold 100ms --kill-after 100ms -- "
                      "sh -c 'trap \"\" TERM; sleep 60 & sleep 60 & sleep 60 & sleep 60'"});
    CHECK(run.exit_code(20s) == 124);
  }
}

TEST_CASE("without /proc a killed rlock takes the group along") {
  if (!may_mount()) return;
  RedisServer redis;
  auto run = run_without_proc(redis, "", kIgnoresTerm);
  const pid_t stubborn = first_line_of(run);

  run.signal(SIGKILL);

  CHECK(eventually([&] { return !alive(stubborn); }));
  // A killed process belongs to its group until process 1 has reaped it. The guardian waits five seconds for
  // that.
  CHECK(eventually([&] { return run.family().empty(); }, 20s));
}

TEST_CASE("without /proc remaining processes of the group are reported") {
  if (!may_mount()) return;
  RedisServer redis;
  auto run = run_without_proc(redis, "", "sleep 60 & exit 3");

  CHECK(run.exit_code() == 3);
  CHECK(contains(run.err(), "the command of 'k' has ended, but others of its process group may still run"));
  auto alone = run_without_proc(redis, "", "exit 3");
  CHECK(alone.exit_code() == 3);
  CHECK_FALSE(contains(alone.err(), "rlock: "));
}

TEST_CASE("--while-pid is refused if /proc does not show the script's processes") {
  if (!may_mount()) return;
  if (kSanitized) return skipped("AddressSanitizer needs /proc where an exception is thrown");
  RedisServer redis;
  auto script = start(redis, {"unshare", "-rm", "sh", "-c",
                              kNoProc + std::string{"\"$RLOCK\" lock acquire k --while-pid $$"}});

  CHECK(script.exit_code() == 78);
  CHECK(contains(script.err(), "--while-pid: /proc does not show which processes the script has started"));
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("--until group is refused if /proc does not show the group") {
  if (!may_mount()) return;
  RedisServer redis;
  auto blind = run_without_proc(redis, "--until group", "echo ran");
  Process::Options without_leaks;
  without_leaks.env["ASAN_OPTIONS"] = "disable_coredump=0:detect_leaks=0";
  auto misled = start(
      redis, {"unshare", "-rpf", rlock_binary(), "run", "-k", "k", "--until", "group", "--", "echo", "ran"},
      without_leaks);  // /proc shows the numbers of another pid namespace

  for (Process* run : {&blind, &misled}) {
    if (kSanitized && run == &blind) {
      skipped("AddressSanitizer needs /proc where an exception is thrown");
      continue;
    }
    CHECK(run->exit_code() == 78);
    CHECK(run->out().empty());
    CHECK(contains(run->err(), "--until group: /proc does not show the processes of a group"));
  }
}

TEST_CASE("the lock is kept while a hidden process that may not be signalled outlives the command") {
  TempDir folder;
  if (::geteuid() != 0) return skipped("only root can make a program set-uid for another user");
  const std::string hide = "mount -t proc -o hidepid=2 proc /proc";
  if (Process{{"unshare", "-m", "sh", "-c", hide}}.exit_code() != 0)
    return skipped("no mount namespace, without a user namespace, for a /proc with hidepid");
  REQUIRE(::chmod(folder.path().c_str(), 0711) == 0);
  for (const char* name : {"rlock", "become-root"}) {
    const bool ours = std::string{name} == "rlock";
    std::filesystem::copy_file(ours ? rlock_binary() : "/usr/bin/setpriv", folder / name);
    REQUIRE(::chmod((folder / name).c_str(), ours ? 0755 : 04755) == 0);
  }
  RedisServer redis{{.tcp = true}};
  Process::Options environment;
  environment.env["RLOCK_URL"] = redis.tcp_url();
  environment.env["FOLDER"] = folder.path();
  auto run = start(redis,
                   {"unshare", "-m", "sh", "-c",
                    hide + " && exec setpriv --reuid 12345 --regid 12345 "
                           "--clear-groups \"$FOLDER/rlock\" run -k k --max-hold 300ms -- "
                           "sh -c '\"$FOLDER/become-root\" --reuid 0 --regid 0 --clear-groups sleep 3 & "
                           "echo $!; wait'"},
                   environment);
  const pid_t foreign = first_line_of(run);
  REQUIRE(eventually([&] { return !redis.has("k"); }, 20s));

  CHECK_FALSE(alive(foreign));
  CHECK(run.exit_code() == 124);
}
