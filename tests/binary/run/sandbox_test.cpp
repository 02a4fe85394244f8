// rlock in containers and sandboxes that refuse system calls, or that give it a namespace of its own. There it
// goes on, or reports what it lacks. It never hangs, and leaves no lock behind.

#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;

namespace {

struct RefusedCall {
  const char* name;
  long number;
  int exit = 3;  ///< exit status of a run whose command exits with 3
};

/// Without these system calls rlock does the same by other means, or without their benefit.
const RefusedCall kSpared[] = {{"pidfd_open", SYS_pidfd_open},
                               {"pidfd_send_signal", SYS_pidfd_send_signal},
                               {"close_range", SYS_close_range},
                               {"clone3", SYS_clone3},
                               {"process_vm_readv", SYS_process_vm_readv},
                               {"memfd_create", SYS_memfd_create},
                               {"unshare", SYS_unshare},
                               {"prctl", SYS_prctl},
                               {"prlimit64", SYS_prlimit64},
                               {"setpriority", SYS_setpriority},
                               {"setsid", SYS_setsid},
                               {"ptrace", SYS_ptrace},
                               {"statx", SYS_statx},
                               {"faccessat", SYS_faccessat}};

/// Without these system calls rlock acquires no lock, and reports that.
const RefusedCall kNeeded[] = {{"getrandom", SYS_getrandom, 71},
                               {"signalfd4", SYS_signalfd4, 71},
                               {"rt_sigprocmask", SYS_rt_sigprocmask, 71},
                               {"timerfd_create", SYS_timerfd_create, 71},
                               {"waitid", SYS_waitid, 126},
                               {"wait4", SYS_wait4, 71}};

/// The leak check of AddressSanitizer stops the process that it checks, and needs these system calls for that.
bool spoils_sanitizer(const RefusedCall& refused) {
  const long number = refused.number;
  return kSanitized &&
         (number == SYS_ptrace || number == SYS_prctl || number == SYS_wait4 || number == SYS_rt_sigprocmask);
}

Process without(const RedisServer& redis, const RefusedCall& refused, int why, Words words) {
  words.insert(words.begin(), {program("forbid"), std::to_string(refused.number), std::to_string(why)});
  return start(redis, std::move(words), {});
}

/// Calls `scene(refused, why)` for each of these system calls and each errno with which it may be refused.
void for_each(std::span<const RefusedCall> calls,
              const std::function<void(const RefusedCall& refused, int why)>& scene) {
  for (const int why : {EPERM, ENOSYS}) {
    for (const RefusedCall& refused : calls) {
      if (spoils_sanitizer(refused)) continue;
      CAPTURE(refused.name);
      scene(refused, why);
    }
  }
}

bool can_forbid() {
  Process tried{{program("forbid"), std::to_string(SYS_ptrace), "1", "true"}};
  return tried.exit_code(kDeadline) == 0;
}

}  // namespace

TEST_CASE("a sandbox that refuses a system call costs neither the command nor its status") {
  if (!can_forbid()) return skipped("no process may filter its system calls here");
  RedisServer redis;
  for_each(kSpared, [&](const RefusedCall& refused, int why) {
    Process run =
        without(redis, refused, why, {rlock_binary(), "run", "-n", "-k", "k", "--", "sh", "-c", "exit 3"});
    CHECK(run.exit_code(kDeadline) == 3);
    CHECK_MESSAGE(run.err().empty(), run.err());
    CHECK_FALSE(redis.has("k"));
  });
}

TEST_CASE("if a sandbox refuses a system call that rlock needs, rlock reports that, and no lock stays") {
  if (!can_forbid()) return skipped("no process may filter its system calls here");
  RedisServer redis;
  for_each(kNeeded, [&](const RefusedCall& refused, int why) {
    Process run =
        without(redis, refused, why, {rlock_binary(), "run", "-n", "-k", "k", "--", "sh", "-c", "exit 3"});
    CHECK(run.exit_code(kDeadline) == refused.exit);
    const bool silent =
        refused.number == SYS_wait4;  // the command has run, but its exit status cannot be read
    CHECK_MESSAGE((silent || contains(run.err(), std::strerror(why))), run.err());
    CHECK_FALSE(redis.has("k"));
  });
}

TEST_CASE("in a sandbox a keeper renews, and releases when its script has ended") {
  if (!can_forbid()) return skipped("no process may filter its system calls here");
  RedisServer redis;
  for_each(kSpared, [&](const RefusedCall& refused, int why) {
    Process script = without(redis, refused, why,
                             {"sh", "-c",
                              "owner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$) || exit 9\n"
                              "\"$RLOCK\" lock status -q k --owner $owner"});
    CHECK_MESSAGE(script.exit_code(kDeadline) == 0, script.err());
    CHECK(eventually([&] { return !redis.has("k"); }));
    CHECK(eventually([&] { return script.family().empty(); }));
  });
}

TEST_CASE("a command in a PID namespace of its own runs, and its status is rlock's") {
  RedisServer redis;
  int allowed = 0;
  for (const Words& unshare :
       {Words{"unshare", "-p"}, Words{"unshare", "-p", "-f"}, Words{"unshare", "-p", "-f", "--mount-proc"}}) {
    CAPTURE(unshare.back());
    Words probe = unshare, words = unshare;
    probe.push_back("true");
    if (Process{probe}.exit_code(kDeadline) != 0) continue;  // in a chroot no /proc can be mounted
    ++allowed;
    words.insert(words.end(),
                 {rlock_binary(), "run", "-n", "-k", "k", "--", "sh", "-c", "echo inside; exit 4"});
    Process run = start(redis, words, {});
    CHECK(run.exit_code(kDeadline) == 4);
    CHECK(run.out() == "inside\n");
    CHECK_FALSE(redis.has("k"));
  }
  if (allowed == 0) return skipped("no PID namespace may be made here");
}
