#include "process/finish_behind.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>

#include "base/log.h"
#include "process/close_range.h"
#include "process/fork.h"
#include "process/signal_mask.h"
#include "process/std_descriptors.h"

namespace rlock {
namespace {

/// Does the descriptor belong to our loop? Inherited descriptors lack FD_CLOEXEC, or were kept from the command. Our
/// files and pipes are not needed, and another process may wait for their end or for their lock.
bool is_of_the_loop(int fd) {
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags < 0 || (flags & FD_CLOEXEC) == 0 || is_kept_from_command(fd)) return false;
  struct stat what;
  return ::fstat(fd, &what) == 0 && !S_ISFIFO(what.st_mode) && !S_ISREG(what.st_mode);
}

void keep_only_the_loop() {
  ::setsid();
  close_if([](int fd) { return !is_of_the_loop(fd); });
  fill_std_descriptors();
  unblock_all_signals();
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
