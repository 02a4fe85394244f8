#include "loop/core_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace rlock {
namespace {

// Globals, because the limit is one of the process: main() lowers it, and Child gives the command the old one back.
rlimit inherited{};
bool forbidden = false;

}  // namespace

void forbid_cores() noexcept {
  if (::getrlimit(RLIMIT_CORE, &inherited) != 0) return;
  // Less than any core has; and to a kernel that pipes cores, for which 0 is no limit, it means "none".
  const rlimit none{std::min<rlim_t>(1, inherited.rlim_max), inherited.rlim_max};
  forbidden = ::setrlimit(RLIMIT_CORE, &none) == 0;
}

void restore_core_limit() noexcept {
  if (forbidden) ::setrlimit(RLIMIT_CORE, &inherited);
}

}  // namespace rlock
