#include "process/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/text.h"
#include "process/close_range.h"
#include "process/core_limit.h"
#include "process/program.h"
#include "process/script_tag.h"
#include "process/signal_mask.h"

namespace rlock {
namespace {

// The descriptors of the daemon before execve().
constexpr int kKept = 3;
constexpr int kReport = 4;
constexpr int kFirstForeign = 5;

void forget_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  unblock_all_signals();
}

/// Sets descriptors 0 to 4 as the daemon needs them, and closes all others. Returns false and sets errno if
/// that fails.
bool forget_descriptors(int keep, int report) {
  const int kept =
      keep < 0 ? -1 : ::fcntl(keep, F_DUPFD, kFirstForeign);  // out of the way of the numbers below
  report = ::fcntl(report, F_DUPFD_CLOEXEC, kFirstForeign);
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0 || report < 0 || (keep >= 0 && kept < 0)) return false;

  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, standard);
  kept < 0 ? ::close(kKept) : ::dup2(kept, kKept);
  ::dup3(report, kReport, O_CLOEXEC);
  close_range(kFirstForeign, ~0U);
  return true;
}

/// Becomes the program, or writes errno into `report`. Never returns.
[[noreturn]] void become(const Daemon& daemon, int report) {
  const auto argv = pointers(daemon.argv), environment = pointers(daemon.environment);
  forget_signals();
  restore_core_limit();
  ::umask(077);
  int pipe = report;
  const bool there = (daemon.folder < 0 ? ::chdir("/") : ::fchdir(daemon.folder)) == 0;
  if (there && forget_descriptors(daemon.keep, report)) {
    pipe = kReport;
    ::execve(argv[0], argv.data(), environment.data());
  }
  const int why = errno;
  (void)!::write(pipe, &why, sizeof why);
  ::_exit(127);
}

[[noreturn]] void refuse(const Daemon& daemon, int why) {
  throw_system_error("cannot start " + in_quotes(daemon.argv.front()), why);
}

}  // namespace

void start_daemon(const Daemon& daemon) {
  Pipe report;
  if (!report) refuse(daemon, errno);

  const pid_t middle = ::fork();
  if (middle == 0) {
    leave_scripts();  // the script that starts the daemon may be stopped, and others use the daemon
    ::setsid();
    // Two forks: because the daemon is not the leader of its session, it cannot get a terminal. And we need
    // not wait for it.
    const pid_t last = ::fork();
    if (last == 0) become(daemon, report.writing.number());
    const int why = errno;
    if (last < 0) (void)!::write(report.writing.number(), &why, sizeof why);
    ::_exit(0);
  }
  int why = middle < 0 ? errno : 0;
  report.writing.reset();
  if (middle > 0) {
    while (::waitpid(middle, nullptr, 0) < 0 && errno == EINTR) continue;
    // Returns when the program is executed, because that closes the pipe.
    while (::read(report.reading.number(), &why, sizeof why) < 0 && errno == EINTR) continue;
  }
  if (why != 0) refuse(daemon, why);
}

}  // namespace rlock
