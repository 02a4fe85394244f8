#include "loop/background.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "loop/close_range.h"

namespace rlock {
namespace {

/// Where the background process says that it is at work.
constexpr int kReport = 3;

/// Is stderr the pipe or the socket that stdout is? Then who reads that would wait for us.
bool stderr_is_stdout() {
  struct stat out, err;
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(STDERR_FILENO, &err) != 0) return false;
  const bool is_stream = S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode);
  return is_stream && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

/// Leaves session, terminal and descriptors behind. `report` becomes kReport.
void detach(int report) {
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  const bool silent = stderr_is_stdout();
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(null, fd);
  if (silent) ::dup2(null, STDERR_FILENO);
  if (report != kReport) ::dup2(report, kReport);
  ::fcntl(kReport, F_SETFD, FD_CLOEXEC);
  if (close_range(kReport + 1, ~0U) == 0) return;
  for (long fd = ::sysconf(_SC_OPEN_MAX); fd > kReport; --fd)
    ::close(static_cast<int>(fd));  // before Linux 5.9
}

[[noreturn]] void go_on(const std::function<void(const std::function<void()>& at_work)>& work, int report) {
  detach(report);
  try {
    work([] {
      const char ready = '1';
      (void)!::write(kReport, &ready, 1);
      ::close(kReport);
    });
    ::_exit(0);
  } catch (const std::exception& error) {  // a process of its own: the main() of its parent is not above it
    complain(error.what());
    ::_exit(1);
  }
}

}  // namespace

void go_on_in_background(const std::function<void(const std::function<void()>& at_work)>& work) {
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0)
    throw Error{Error::system, fmt::format("cannot start a process: {}", std::strerror(errno))};
  const pid_t process = ::fork();
  if (process == 0) go_on(work, report[1]);
  const int failed = process < 0 ? errno : 0;
  ::close(report[1]);
  char ready = 0;
  ssize_t got = 0;
  do got = ::read(report[0], &ready, 1);  // ends when the process is at work, or has ended
  while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (failed != 0)
    throw Error{Error::system, fmt::format("cannot start a process: {}", std::strerror(failed))};
  if (got != 1) throw Error{Error::system, "the process that keeps it has ended"};
}

int may_signal(pid_t pid) noexcept { return ::kill(pid, 0) == 0 ? 0 : errno; }

}  // namespace rlock
