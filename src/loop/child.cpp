#include "loop/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace rlock {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const auto& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Child::Child(Loop& loop, const std::vector<std::string>& argv, const std::vector<std::string>& environment)
    : loop_(loop) {
  const auto words = pointers(argv);
  const auto variables = pointers(environment);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) report[0] = report[1] = -1;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::execvpe(words[0], words.data(), variables.data());
    const int error = errno;
    (void)!::write(report[1], &error, sizeof error);
    ::_exit(127);
  }
  ::close(report[1]);
  if (::read(report[0], &exec_errno_, sizeof exec_errno_) != sizeof exec_errno_) exec_errno_ = 0;
  ::close(report[0]);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  loop_.join(*this);
}

Child::~Child() {
  loop_.leave(*this);
  ::close(pidfd_);
}

void Child::signal(int number) { ::kill(-pid_, number); }

short Child::interest() const { return exited_ ? 0 : POLLIN; }

void Child::ready(short, TimePoint) { exited_ = exited_ || ::waitpid(pid_, &status_, WNOHANG) == pid_; }

}  // namespace rlock
