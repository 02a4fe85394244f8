// The command's process. start() makes it with clone(CLONE_VM | CLONE_VFORK): it runs become() in our memory,
// on a stack of its own, while we stand still, and ends that by execve() or by writing errno into the Launch.
// From then on a signalfd for SIGCHLD wakes the loop, and look() asks the kernel what happened.
//
// The kernel keeps only the latest change of a child, and a signal for a second one may be merged with the
// first: so look() never trusts the signal, and asks by waitid() until there is no news.
//
// A command that has ended stays a zombie until reap(). That keeps its pid, and with it the number of its
// group, from being reused while we may still send signals to that number.

#include "loop/child.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "loop/core_limit.h"
#include "loop/program.h"

namespace rlock {
namespace {

/// All that the command's process needs, so that it has nothing to allocate.
struct Launch {
  const char* path;
  char* const* argv;
  Environment& environment;
  const Child::Prelude& prelude;
  pid_t parent;
  int error = 0;
};

/// What the command's process does before it becomes the command. It runs in our memory, so it may only make
/// system calls: an allocation or a lock here would be ours, left halfway when execve() comes.
int become(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // our death, even by KILL, must not leave it running without a lock
  if (::getppid() != launch.parent) ::_exit(127);  // it ended before we had asked to end with it
  ::setpgid(0, 0);  // here and not in the parent: the prelude tells the guardian a group that exists
  const pid_t self = ::getpid();
  launch.environment.meant_for(self);
  launch.prelude(self);
  restore_core_limit();  // rlock makes no core files, since passwords are in its memory; the command may
  ::execve(launch.path, launch.argv, launch.environment.pointers());
  launch.error = errno;
  ::_exit(127);
}

/// Like vfork(), but the child cannot spoil our stack frame: a third of the time that fork() takes, and no
/// pipe is needed to learn that exec has failed.
pid_t start(Launch& launch) {
  constexpr std::size_t kStack = 64 * 1024;
  // Not on our own stack, where each page of it would be touched.
  alignas(64) static std::array<std::byte, kStack> stack;
  return ::clone(become, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &launch);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

/// As PID 1 (in a container) we inherit all orphans. `command` is left alone: its status is wanted, and while
/// it is first in line the others wait.
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

Child::Child(Loop& loop, const Command& command, const Prelude& prelude) : loop_(loop) {
  // Before the clone, so that exec does not search PATH in memory that is ours.
  const Found program = !command.found.empty() && is_program(command.found)
                            ? Found{command.found}
                            : find_program(command.argv.front(), program_folders());
  start_errno_ = program.error;
  if (start_errno_ != 0) return;
  sigset_t ended;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  changes_.reset(::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK));
  start_errno_ = changes_ ? 0 : errno;
  if (start_errno_ != 0) return;
  loop_.join(*this);

  const auto argv = pointers(command.argv);
  Environment environment{command.variables};
  Launch launch{program.path.c_str(), argv.data(), environment, prelude, ::getpid()};
  pid_ = start(launch);
  start_errno_ = pid_ < 0 ? errno : launch.error;
  reaped_ = start_errno_ != 0;
  if (launch.error != 0) ::waitpid(pid_, nullptr, 0);  // it has ended without becoming the command
}

Child::~Child() { loop_.leave(*this); }

std::optional<int> Child::take_stop() noexcept { return std::exchange(stop_, std::nullopt); }

int Child::signal(int number) const noexcept {
  if (reaped_) return ESRCH;  // the pid may have been reused
  if (::kill(-pid_, number) == 0) return 0;
  // It may have moved into another group, leaving its own empty.
  if (errno == ESRCH && ::kill(pid_, number) == 0) return 0;
  return errno;
}

int Child::reap() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  return status;
}

short Child::interest() const { return POLLIN; }

void Child::ready(short events, TimePoint) {
  signalfd_siginfo info;
  // Only empties the descriptor: what happened is asked in look().
  while (events != 0 && ::read(changes_.number(), &info, sizeof info) > 0) continue;
  look();
  if (::getpid() == 1) reap_orphans(pid_);
}

void Child::look() {
  siginfo_t info;
  while (!ended_ && !reaped_) {
    info.si_pid = 0;
    // Without taking it (WNOWAIT): the end must stay for reap().
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info,
                 WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
      return;
    ended_ = info.si_code != CLD_STOPPED && info.si_code != CLD_CONTINUED;
    if (ended_) return;
    // A stop or its end. It may have changed again since the look above: the state taken here counts.
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
