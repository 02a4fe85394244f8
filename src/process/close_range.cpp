#include "process/close_range.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/text.h"

namespace rlock {
namespace {

/// If /proc does not show the open descriptors, those below this number are closed. rlock and its parent have fewer
/// in practice.
constexpr long kMostDescriptors = 65536;

}  // namespace

void close_if(const std::function<bool(int fd)>& unneeded) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir("/proc/self/fd"), &::closedir};
  if (!open) {
    const long end = std::min(::sysconf(_SC_OPEN_MAX), kMostDescriptors);
    for (int fd = 0; fd < end; ++fd)
      if (unneeded(fd)) ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(open.get())) {
    const auto fd = parse_count(entry->d_name);
    if (fd && *fd != ::dirfd(open.get()) && unneeded(static_cast<int>(*fd))) ::close(static_cast<int>(*fd));
  }
}

void close_range(unsigned first, unsigned last) {
  if (::syscall(SYS_close_range, first, last, 0U) == 0)
    return;  // called by its number, because musl has no function for it
  close_if([=](int fd) { return static_cast<unsigned>(fd) >= first && static_cast<unsigned>(fd) <= last; });
}

void close_all_but(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned next = 0;
  for (const int fd : kept) {
    if (const auto number = static_cast<unsigned>(fd); number > next) close_range(next, number - 1);
    next = static_cast<unsigned>(fd) + 1;
  }
  close_range(next, ~0U);
}

}  // namespace rlock
