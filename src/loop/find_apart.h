#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/time.h"

namespace rlock {

/// The `candidates` for which `is_one` is true, as far as they are known at `until`. Another process asks:
/// while a process changes its memory, the kernel makes readers of that memory wait, for long if the process
/// has no processor. Then the search goes on with the next candidate.
std::vector<pid_t> find_apart(std::vector<pid_t> candidates, const std::function<bool(pid_t)>& is_one,
                              TimePoint until);

}  // namespace rlock
