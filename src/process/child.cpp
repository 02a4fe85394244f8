// The command's process. start() makes it with clone(CLONE_VM | CLONE_VFORK). It runs become() in our memory,
// on a stack of its own, while we are suspended. become() ends in execve(). If that fails, it writes errno into
// the Launch. After that, SIGCHLD wakes the loop (Signals), and look() asks the kernel for news.
//
// The kernel keeps only the latest change of a child, and may merge two SIGCHLD into one. So look() does not
// trust the signal, and calls waitid() until there is no news.
//
// A command that has ended stays a zombie until reap(). So its pid, which is also its group's number, is not
// reused while we may still send signals to it.

#include "process/child.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "process/core_limit.h"
#include "process/program.h"

namespace rlock {
namespace {

/// The wait status if the kernel does not tell how the command ended: exit status 71, because it is no success.
constexpr int kUnknown = 71 << 8;

/// Everything that the command's process needs, so that it need not allocate.
struct Launch {
  const char* path;
  char* const* argv;
  /// The argv of /bin/sh for a script whose first line names no interpreter; null: none.
  char* const* as_script;
  Environment& environment;
  const Child::Prelude& prelude;
  const Signals& signals;
  pid_t parent;
  bool outlives_us;
  int error = 0;
};

/// The command's process before execve(). It runs in our memory, so it must use only system calls. What it
/// allocates, or a mutex that it locks, would stay so in our process after execve().
int become(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  // If we die, even by KILL, the command must not run on without its lock.
  if (!launch.outlives_us) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent is another process, ours ended before the prctl(). 0: rlock is outside of our PID namespace
  // (unshare -p).
  if (const pid_t parent = ::getppid(); parent != launch.parent && parent != 0) ::_exit(127);
  // Here and not in the parent, because the group must exist when the prelude tells its number to the guardian.
  ::setpgid(0, 0);
  const pid_t self = ::getpid();
  launch.environment.meant_for(self);
  launch.prelude(self);
  launch.signals.restore();
  // rlock forbids core files, because its memory has passwords. The command may write core files.
  restore_core_limit();
  ::execve(launch.path, launch.argv, launch.environment.pointers());
  if (errno == ENOEXEC && launch.as_script != nullptr)
    ::execve(launch.as_script[0], launch.as_script, launch.environment.pointers());
  launch.error = errno;
  ::_exit(127);
}

/// The errno with which a sandbox refuses waitid(2), else 0. Without waitid(2), we would not learn that the command
/// has ended, and would wait for ever.
int refusal_of_waitid() {
  siginfo_t info;
  const bool works = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno == ECHILD;
  return works ? 0 : errno;
}

/// Like vfork(), but the child cannot damage our stack frame. It takes a third of the time of fork(), and
/// needs no pipe to report that exec failed.
pid_t start(Launch& launch) {
  constexpr std::size_t kStack = 64 * 1024;
  // Not on our own stack, because the child would touch its pages.
  alignas(64) static std::array<std::byte, kStack> stack;
  return ::clone(become, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &launch);
}

/// As PID 1 (in a container) we inherit all orphans. We do not reap `command`, because its status is needed
/// later. While it is the first zombie, the others must wait. 0: it has been reaped.
void reap_orphans(pid_t command) {
  siginfo_t info;
  for (;;) {
    info.si_pid = 0;
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (info.si_pid == 0 || info.si_pid == command) return;
    ::waitpid(info.si_pid, nullptr, 0);
  }
}

}  // namespace

Child::Child(Loop& loop, const Signals& signals, const Command& command, const Prelude& prelude)
    : signals_(signals), self_(::getpid()), seen_changes_(signals.child_changes()) {
  // PATH is searched before the clone, because the search allocates, and the child runs in our memory.
  const Found program = !command.found.empty() && is_program(command.found)
                            ? Found{command.found}
                            : find_program(command.argv.front(), program_folders());
  start_errno_ = program.error;
  if (start_errno_ != 0) return;
  start_errno_ = refusal_of_waitid();
  if (start_errno_ != 0) return;
  membership_.emplace(loop, *this);

  const auto argv = pointers(command.argv);
  std::vector<std::string> script;
  if (command.or_script) {
    script = {"/bin/sh", program.path};
    script.insert(script.end(), command.argv.begin() + 1, command.argv.end());
  }
  const auto script_argv = pointers(script);
  Environment environment{command.variables};
  Launch launch{program.path.c_str(),
                argv.data(),
                command.or_script ? script_argv.data() : nullptr,
                environment,
                prelude,
                signals,
                self_,
                command.outlives_us};
  pid_ = start(launch);
  start_errno_ = pid_ < 0 ? errno : launch.error;
  reaped_ = start_errno_ != 0;
  if (launch.error != 0) ::waitpid(pid_, nullptr, 0);  // it has ended without becoming the command
}

std::optional<int> Child::take_stop() noexcept { return std::exchange(stop_, std::nullopt); }

int Child::signal(int number) const noexcept {
  if (reaped_) return ESRCH;  // the pid may have been reused
  if (::kill(-pid_, number) == 0) return 0;
  // The command may have moved to another group, and left its own empty.
  if (errno == ESRCH && ::kill(pid_, number) == 0) return 0;
  return errno;
}

int Child::reap() {
  int status = kUnknown;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  if (self_ == 1) reap_orphans(0);  // those that had to wait: no signal comes for them any more
  return status;
}

TimePoint Child::wake_at() const {
  return signals_.child_changes() == seen_changes_ ? kNever : TimePoint::min();
}

void Child::ready(short, TimePoint) {
  seen_changes_ = signals_.child_changes();
  look();
  if (self_ == 1) reap_orphans(reaped_ ? 0 : pid_);
}

void Child::look() {
  siginfo_t info;
  while (!ended_ && !reaped_) {
    info.si_pid = 0;
    // WNOWAIT: the end must stay for reap().
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info,
                 WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
      return;
    ended_ = info.si_code != CLD_STOPPED && info.si_code != CLD_CONTINUED;
    if (ended_) {
      exit_code_ = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
      return;
    }
    // It was stopped or continued, and perhaps again since the call above. The next call tells the latest state.
    info.si_pid = 0;
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WCONTINUED | WNOHANG) != 0) return;
    if (info.si_pid == 0) continue;
    stopped_ = info.si_code == CLD_STOPPED;
    stop_ = stopped_ ? std::optional{info.si_status} : std::nullopt;
  }
}

int exit_code_of(int wait_status) noexcept {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

std::optional<int> signal_of(int wait_status) noexcept {
  if (WIFSIGNALED(wait_status)) return WTERMSIG(wait_status);
  return std::nullopt;
}

}  // namespace rlock
