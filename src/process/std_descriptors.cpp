#include "process/std_descriptors.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace rlock {
namespace {

/// A global, because descriptors belong to the process.
std::vector<int> kept;

}  // namespace

void fill_std_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // In ascending order, so that open() returns the missing descriptor. Without /dev, any placeholder is
    // good enough.
    int got = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (got < 0) got = ::open("/", O_PATH | O_CLOEXEC);
    if (got != fd) throw_system_error("cannot open /dev/null");
  }
}

bool is_placeholder(int fd) noexcept {
  // Only a placeholder has this flag, because exec() closes a standard descriptor that has it.
  const int flags = fd <= 2 ? ::fcntl(fd, F_GETFD) : -1;
  return flags >= 0 && (flags & FD_CLOEXEC) != 0;
}

void keep_from_command(int fd) noexcept {
  if (fd <= 2) return;
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  kept.push_back(fd);
}

bool is_kept_from_command(int fd) noexcept { return std::ranges::find(kept, fd) != kept.end(); }

}  // namespace rlock
