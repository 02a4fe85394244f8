#include "process/std_descriptors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"

namespace rlock {
namespace {

/// A global, because descriptors belong to the process.
std::vector<int> kept;

/// Does a reader wait until every process has closed it?
bool is_stream(const struct stat& file) { return S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode); }

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

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

bool is_our_stdout(int fd) {
  struct stat out, other;
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(fd, &other) != 0) return false;
  return is_stream(out) && same_file(out, other);
}

bool may_keep_stderr(pid_t pid) {
  struct stat ours, its;
  if (::fstat(STDERR_FILENO, &ours) != 0) return false;
  if (!is_stream(ours)) return true;
  return ::stat(("/proc/" + std::to_string(pid) + "/fd/2").c_str(), &its) == 0 && same_file(ours, its);
}

}  // namespace rlock
