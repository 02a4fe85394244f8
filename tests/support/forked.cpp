#include "support/forked.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace rlock::test {

int in_another_process(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(30);  // a process that hangs ends
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    int code = 250;
    try {
      code = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in another process: %s\n", error.what());
    }
    ::_exit(code);
  }
  int status = -1;
  ::waitpid(pid, &status, WUNTRACED);
  if (WIFSTOPPED(status)) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  return status;
}

int status_of(const std::function<int()>& work) {
  const int status = in_another_process(work);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace rlock::test
