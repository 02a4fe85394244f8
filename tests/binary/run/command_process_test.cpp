#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <regex>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;

// Known traps of programs that run other programs: seen from outside, with the real binary.

namespace {

bool free_again(RedisServer& redis, const std::string& key = "k") {
  return eventually([&] { return !redis.has(key); });
}

/// The output of `ls -l /proc/self/fd` without dates, pids and numbers of pipes, which differ each time.
std::string links(const std::string& listing) {
  const auto arrows = std::regex_replace(listing, std::regex{"[^\n]* ([0-9]+ -> )"}, "$1");
  return std::regex_replace(arrows, std::regex{"/proc/[0-9]+|\\[[0-9]+\\]"}, "N");
}

/// The lines of /proc/self/status that a child inherits.
const char* const kSignalLines =
    "grep -E '^(SigBlk|SigIgn|CapInh|NoNewPrivs|Seccomp|Cpus_allowed):' /proc/self/status";

}  // namespace

TEST_CASE("the command's own status is ours") {
  RedisServer redis;
  for (int status : {0, 1, 3, 64, 75, 124, 125, 126, 127, 255})
    CHECK(redis.rlock("run", "-k", "k", "--", "sh", "-c", "exit " + std::to_string(status)).exit_code() ==
          status);
  CHECK(redis.keys().empty());
}

TEST_CASE("a command that a signal has killed lets us die of the same one, without a core") {
  RedisServer redis;
  for (int number : {SIGTERM, SIGKILL, SIGINT, SIGQUIT, SIGSEGV, SIGABRT, SIGHUP, SIGUSR2}) {
    auto run = redis.rlock("run", "-k", "k", "--", "sh", "-c",
                           "ulimit -c 0; kill -" + std::to_string(number) + " $$");
    const int status = run.wait_status();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    CHECK_FALSE(WCOREDUMP(status));
    CHECK(free_again(redis));
  }
}

TEST_CASE("a command that a signal has killed leaves its terminal with the echo that it had") {
  RedisServer redis;
  Pty terminal{{"sh", "-c", "$0 run -k k -- sh -c 'stty -echo; kill -KILL $$'; stty -a", rlock_binary()},
               redis.environment()};
  CHECK(terminal.exit_code() == 0);
  CHECK(contains(terminal.screen(), " echo "));
}

TEST_CASE("a file that cannot be executed is 126 or 127 at once, and the lock is free again") {
  RedisServer redis;
  TempDir folder;
  write_file(folder / "no_shebang", "exit 0\n");
  ::chmod((folder / "no_shebang").c_str(), 0755);
  const auto code = [&](const std::string& command) {
    return redis.rlock("run", "-k", "k", "--", command).exit_code();
  };

  CHECK(code("rlock-no-such-program") == 127);
  CHECK(code("/nope") == 127);
  CHECK(code("/etc/passwd") == 126);
  CHECK(code("/") == 126);
  CHECK(code(folder / "no_shebang") == 126);
  CHECK(redis.keys().empty());
}

TEST_CASE("every argument arrives byte for byte") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "printf", "[%s]", "-n", "", "a b", "$(id)", "line\nline",
                         "--", "*", "\xff\x01");

  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "[-n][][a b][$(id)][line\nline][--][*][\xff\x01]");
}

TEST_CASE("the signal mask and dispositions of the command are those of rlock's parent") {
  RedisServer redis;
  const Words look = {"sh", "-c", kSignalLines};
  Process::Options options{.blocked = {SIGTERM, SIGALRM, SIGCHLD, SIGUSR1},
                           .ignored = {SIGHUP, SIGINT, SIGQUIT, SIGCHLD}};
  Process alone{look, options};
  alone.exit_code();

  auto run = start(redis, {rlock_binary(), "run", "-k", "k", "--", look[0], look[1], look[2]}, options);
  CHECK(run.exit_code() == 0);
  CHECK(run.out() == alone.out());

  Process plain{look};
  plain.exit_code();
  auto again = redis.rlock("run", "-k", "k", "--", look[0], look[1], look[2]);
  CHECK(again.exit_code() == 0);
  CHECK(again.out() == plain.out());
}

TEST_CASE("a blocked TERM still stops us and a blocked CHLD costs no status") {
  RedisServer redis;
  auto run = start(redis, {rlock_binary(), "run", "-k", "k", "--max-hold", "200ms", "--", "sleep", "60"},
                   {.blocked = {SIGTERM, SIGCHLD, SIGALRM}, .ignored = {SIGCHLD}});
  // sleep has TERM blocked, too, as it would have without rlock: KILL ends it after --kill-after.
  CHECK(run.exit_code() == 124);
}

TEST_CASE("nohup stays nohup") {
  RedisServer redis;
  auto run =
      start(redis, {rlock_binary(), "run", "-k", "k", "--", "sh", "-c", "echo ready; sleep 0.5; echo done"},
            {.ignored = {SIGHUP}});
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }));
  run.signal(SIGHUP);

  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "ready\ndone\n");
}

TEST_CASE("the end of a child from before an exec is not taken for the command's end") {
  RedisServer redis;
  auto run = sh(redis, "sleep 0.1 & exec $RLOCK run -k k -- sh -c 'sleep 0.4; exit 3'");

  CHECK(run.exit_code() == 3);
}

TEST_CASE("a closed pipe behind our messages neither kills us nor reaches the command") {
  RedisServer redis;
  auto run = sh(redis, "{ $RLOCK run -v -k k -- sh -c 'sleep 0.3; exit 3'; echo $? >&3; } 2>&1 | :",
                {.descriptors = {{3, 1}}});
  CHECK(run.exit_code() == 0);
  auto dies = sh(redis, "$RLOCK run -k k -- sh -c 'kill -PIPE $$'; echo $?");
  CHECK(dies.exit_code() == 0);
  CHECK(dies.out() == "141\n");
}

TEST_CASE("a file of our messages that may not grow kills neither us nor the command") {
  RedisServer redis;
  const TempDir directory;
  // A command that wants the terminal makes rlock print a line while the command lives.
  const std::string command = "sh -c '(sleep 0.5; kill -CONT $$) & kill -TTIN $$; echo done'";
  Process run = sh(redis, "{ (ulimit -f 0; exec \"$RLOCK\" run -k k -- " + command + " 2>" +
                              (directory / "log") + "); echo $?; } | cat");
  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "done\n0\n");
}

TEST_CASE("standard input is the command's: a gibibyte arrives unharmed") {
  RedisServer redis;
  const std::string feed = "head -c 1G /dev/zero | tr '\\0' 'r' ";
  auto run = sh(redis, feed + "| $RLOCK run -k k -- sh -c 'sleep 0.05; exec cksum'");
  CHECK(run.exit_code(60s) == 0);
  CHECK(run.out() == "1997026537 1073741824\n");
}

TEST_CASE("input that the command does not read is left for the next reader") {
  RedisServer redis;
  auto run = sh(redis, "printf 'one\\ntwo\\n' | { $RLOCK run -k k -- sh -c 'read x; echo = $x'; cat; }");

  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "= one\ntwo\n");
}

TEST_CASE("descriptors that we were started without are closed in the command, in every combination") {
  RedisServer redis;
  const Words look = {"sh", "-c",
                      "for fd in 0 1 2; do [ -e /proc/self/fd/$fd ]; echo $fd $?; done >$0/seen 2>/dev/null"};
  for (int closed = 0; closed < 8; ++closed) {
    Process::Options options;
    for (int fd = 0; fd < 3; ++fd)
      if (closed & (1 << fd)) options.closed.push_back(fd);
    TempDir with, without;
    Process alone{{look[0], look[1], look[2], without.path()}, options};
    CHECK(alone.exit_code() == 0);
    auto run =
        start(redis, {rlock_binary(), "run", "-q", "-k", "k", "--", look[0], look[1], look[2], with.path()},
              options);
    CHECK(run.exit_code() == 0);
    CHECK(read_file(with / "seen") == read_file(without / "seen"));
  }
}

TEST_CASE("the command has the descriptors that our parent gave, and none of ours") {
  RedisServer redis;
  TempDir folder;
  const int extra = ::open((folder / "extra").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const Words look = {"ls", "-l", "/proc/self/fd"};
  const Process::Options options{.descriptors = {{7, extra}}};
  Process alone{look, options};
  alone.exit_code();
  auto run = start(redis, {rlock_binary(), "run", "-k", "k", "--", look[0], look[1], look[2]}, options);
  CHECK(run.exit_code() == 0);

  CHECK(contains(run.out(), "7 -> " + (folder / "extra")));
  CHECK(links(run.out()) == links(alone.out()));
  ::close(extra);
}

TEST_CASE("the command's environment is ours, and our word about the lock") {
  RedisServer redis;
  const auto lines = [](const std::string& text) {
    Words all;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line, '\0');)
      if (!line.starts_with("RLOCK_") && !line.starts_with("_=")) all.push_back(line);
    std::ranges::sort(all);
    return all;
  };
  Process::Options options = redis.environment();
  options.env["ODD"] = "two\nlines and a \xff";
  Process alone{{"env", "-0"}, options};
  alone.exit_code();
  Rlock run{{"run", "-k", "k", "--", "env", "-0"}, options};

  CHECK(run.exit_code() == 0);
  CHECK(lines(run.out()) == lines(alone.out()));
}

TEST_CASE("limits, umask, directory and nice value of the command are ours") {
  RedisServer redis;
  const std::string look =
      "ulimit -a; umask; pwd; nice; cat /proc/self/oom_score_adj /proc/self/coredump_filter";
  const std::string around = "ulimit -n 77 -c 0; umask 027; cd /tmp; nice -n 3 ";
  auto alone = sh(redis, around + "bash -c '" + look + "'");
  alone.exit_code();
  auto run = sh(redis, around + "$RLOCK run -k k -- bash -c '" + look + "'");

  CHECK(run.exit_code() == 0);
  CHECK(run.out() == alone.out());
}

TEST_CASE("another user's command cannot be signalled: rlock reports that, and keeps the lock") {
  if (::geteuid() != 0) return skipped("only root can start another user's command");
  RedisServer redis;
  ::chmod(redis.directory().c_str(), 0777);
  ::chmod(redis.socket().c_str(), 0777);
  // As with sudo, no id of the caller is left in the process.
  const std::string sudo = redis.directory() + "/sudo";
  output_of({"cp", "/usr/bin/setpriv", sudo});
  ::chmod(sudo.c_str(), 04755);
  auto run = start(redis, {"setpriv", "--reuid", "65534", "--clear-groups", for_everybody(redis.directory()),
                           "run", "-k", "k", "--max-hold", "200ms", "--kill-after", "100ms", "--", sudo,
                           "--reuid", "0", "--clear-groups", "sleep", "1"});

  CHECK(run.exit_code() == 124);
  CHECK(contains(run.err(), "may not signal"));
  CHECK(redis.keys().empty());
}

TEST_CASE("as PID 1 rlock passes signals on, buries orphans and says 128 + n") {
  if (Process{{"unshare", "-pf", "--mount-proc", "true"}}.exit_code() != 0)
    return skipped("no process namespace of our own");
  RedisServer redis;
  const auto inside = [&](const std::string& command) {
    return start(redis, {"unshare", "-pf", "--mount-proc", rlock_binary(), "run", "-k", "k", "--", "sh", "-c",
                         command});
  };
  auto orphans = inside(
      "sh -c 'sleep 0.1 & sleep 0.1 &'; for i in $(seq 100); do ps -eo stat=,comm= | grep -q -e Z -e sleep || exit 5; "
      "sleep 0.05; done");
  CHECK(orphans.exit_code() == 5);

  CHECK(inside("kill -TERM $$").exit_code() == 128 + SIGTERM);

  auto told = inside("trap 'echo term; exit 6' TERM; echo ready; sleep 9 & wait");
  REQUIRE(eventually([&] { return told.out() == "ready\n"; }));
  for (pid_t pid : told.family())
    if (read_file("/proc/" + std::to_string(pid) + "/comm") == "rlock\n") ::kill(pid, SIGTERM);
  CHECK(told.exit_code() == 6);
}

TEST_CASE("if no process can be started, the lock is given back") {
  if (kSanitized)
    return skipped("LeakSanitizer wants a process at the end, and answers with a status of its own");
  if (::geteuid() != 0) return skipped("only root can limit the processes of another user");
  RedisServer redis;
  ::chmod(redis.directory().c_str(), 0777);
  ::chmod(redis.socket().c_str(), 0777);
  auto run = start(redis, {"setpriv", "--reuid", "65531", "--clear-groups", "prlimit", "--nproc=1",
                           for_everybody(redis.directory()), "run", "-k", "k", "--", "true"});

  CHECK(run.exit_code() == 71);
  CHECK(free_again(redis));
}

TEST_CASE("if no guardian can be started, rlock says why the command was not run, and nothing else") {
  if (kSanitized) return skipped("UBSan needs descriptors of its own to see that an object is there");
  RedisServer redis;
  int without_guardian = 0;
  for (int files = 5; files <= 12; ++files) {
    CAPTURE(files);
    auto run = sh(redis, "ulimit -n " + std::to_string(files) + "; exec $RLOCK run -k k -- true");
    const int exit = run.exit_code();
    CAPTURE(run.err());
    CHECK((exit == 0 || exit == 71 || exit == 69));
    CHECK_FALSE(contains(run.err(), "guardian"));
    if (contains(run.err(), "cannot run 'true': Too many open files")) ++without_guardian;
    CHECK(eventually([&] { return !redis.has("k"); }, 5s));
  }
  CHECK(without_guardian > 0);
}

TEST_CASE("^Z stops a wait, and fg goes on with it") {
  RedisServer redis;
  auto held = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k"); }));
  Pty shell{{"bash", "--norc", "--noprofile", "--noediting", "-i"}, redis.environment()};
  shell.type(rlock_binary() + " run -q -k k -- sh -c 'echo r\"\"an; exit 3'\r");
  REQUIRE(eventually([&] { return redis.listeners("redisson_lock__channel:{k}") == 1; }));
  shell.type(Pty::kSuspend);
  shell.expect("Stopped");
  held.signal(SIGTERM);
  held.exit_code();
  shell.type("fg\r");
  shell.expect("ran");
  shell.type("echo \"status [$?]\"\r");

  shell.expect("status [3]");
}

TEST_CASE("a TSTP to rlock stops the command, and rlock says what that means for the lock") {
  RedisServer redis;
  auto run = redis.rlock("run", "-k", "k", "--", "sh", "-c", "echo ready; exec sleep 60");
  REQUIRE(eventually([&] { return run.out() == "ready\n"; }, 10s));
  run.signal(SIGTSTP);
  CHECK(eventually([&] { return contains(run.err(), "stopped: while the command is stopped"); }, 10s));
}

TEST_CASE("a command has the terminal before it runs") {
  RedisServer redis;
  Pty terminal{{rlock_binary(), "run", "-q", "-k", "k", "--", "sh", "-c",
                "set -- $(ps -o pgid=,tpgid= -p $$); [ $1 = $2 ]"},
               redis.environment()};
  CHECK(terminal.exit_code() == 0);
}

TEST_CASE("after a command that could not be started, the script around rlock has the terminal") {
  RedisServer redis;
  Pty script{{"sh", "-c", rlock_binary() + " run -q -k k -- /dev/null; read -r line; echo \"got $line\""},
             redis.environment()};
  script.type("this\r");
  script.expect("got this");
}

TEST_CASE("a ^C that the command answers with 130 ends the script around rlock, too") {
  RedisServer redis;
  const std::string command = "trap \"exit 130\" INT; echo ready; while :; do sleep 0.05; done";
  Pty script{{"sh", "-c", rlock_binary() + " run -q -k k -- sh -c '" + command + "'; echo after"},
             redis.environment()};
  script.expect("ready");
  script.type(Pty::kInterrupt);
  CHECK(script.exit_code() == 128 + SIGINT);
  CHECK_FALSE(contains(script.screen(), "after"));
}

TEST_CASE("an INT that a process has sent to rlock is no ^C, also if another signal follows it") {
  RedisServer redis;
  const std::string command =
      "trap \"exit 130\" USR1; trap \"kill -USR1 $PPID\" INT; kill -INT $PPID; while :; do sleep 0.05; done";
  Pty script{{"sh", "-c", rlock_binary() + " run -q -k k -- sh -c '" + command + "'; echo after $?"},
             redis.environment()};
  CHECK(script.exit_code() == 0);
  CHECK(contains(script.screen(), "after 130"));
}

TEST_CASE("xargs -P and ^C: every command ends, every key is free") {
  RedisServer redis;
  Pty terminal{
      {"bash", "-c",
       "seq 3 | xargs -P3 -I@ " + rlock_binary() + " run -k k@ -- sh -c 'echo ready@; exec sleep 60'"},
      redis.environment()};
  for (int i = 0; i < 3; ++i) terminal.expect("ready");
  terminal.type(Pty::kInterrupt);

  CHECK(terminal.exit_code() == 128 + SIGINT);
  CHECK(eventually([&] { return redis.keys().empty(); }));
}
