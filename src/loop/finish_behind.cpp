#include "loop/finish_behind.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "base/log.h"
#include "loop/fork.h"

namespace rlock {
namespace {

/// rlock and its parent have fewer descriptors in practice. A limit of a billion would take too long to walk
/// through.
constexpr long kMostDescriptors = 65536;

/// Does the descriptor belong to our loop? Inherited descriptors lack FD_CLOEXEC. Our files and pipes are not
/// needed, and another process may wait for their end or for their lock.
bool is_of_the_loop(int fd) {
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags < 0 || (flags & FD_CLOEXEC) == 0) return false;
  struct stat what;
  return ::fstat(fd, &what) == 0 && !S_ISFIFO(what.st_mode) && !S_ISREG(what.st_mode);
}

void keep_only_the_loop() {
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) null < 0 ? ::close(fd) : ::dup2(null, fd);
  const long end = std::min(::sysconf(_SC_OPEN_MAX), kMostDescriptors);
  for (int fd = STDERR_FILENO + 1; fd < end; ++fd)
    if (!is_of_the_loop(fd)) ::close(fd);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

bool finish_behind(const std::function<void()>& work) noexcept {
  return fork_for([&] {
           keep_only_the_loop();
           try {
             work();
           } catch (
               const std::exception& error) {  // there is no one to tell; a granted lock ends with its lease
             debug(error.what());
           }
         }) > 0;
}

}  // namespace rlock
