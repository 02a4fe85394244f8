#include "loop/close_range.h"

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

void close_range(unsigned first, unsigned last) noexcept {
  if (::syscall(SYS_close_range, first, last, 0U) == 0)
    return;  // called by its number, because musl has no function for it
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir("/proc/self/fd"), &::closedir};
  if (!open) {
    const long end = std::min({::sysconf(_SC_OPEN_MAX), kMostDescriptors, static_cast<long>(last) + 1});
    for (long fd = first; fd < end; ++fd) ::close(static_cast<int>(fd));
    return;
  }
  while (const dirent* entry = ::readdir(open.get())) {
    const auto fd = parse_count(entry->d_name);
    if (fd && *fd >= first && *fd <= last && *fd != ::dirfd(open.get())) ::close(static_cast<int>(*fd));
  }
}

}  // namespace rlock
