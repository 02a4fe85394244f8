#include "process/core_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace rlock {
namespace {

// Globals, because the limit belongs to the process: main() lowers it, and Child restores it for the command.
rlimit inherited{};
bool forbidden = false;

}  // namespace

void forbid_cores() noexcept {
  if (::getrlimit(RLIMIT_CORE, &inherited) != 0) return;
  // 1 byte is less than any core. If the kernel pipes cores to a program, 0 means no limit, but 1 means no
  // core.
  const rlimit none{std::min<rlim_t>(1, inherited.rlim_max), inherited.rlim_max};
  forbidden = ::setrlimit(RLIMIT_CORE, &none) == 0;
}

void restore_core_limit() noexcept {
  if (forbidden) ::setrlimit(RLIMIT_CORE, &inherited);
}

}  // namespace rlock
