#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/time.h"

namespace rlock {

/// Those of `candidates` for which `is_one` is true, as far as this is known `until` then. Another process asks,
/// since the kernel lets a reader of a process' memory wait while that process changes it, which takes long if
/// the process has no processor: we stop waiting for the answer, and go on with the next candidate.
std::vector<pid_t> find_apart(std::vector<pid_t> candidates, const std::function<bool(pid_t)>& is_one,
                              TimePoint until);

}  // namespace rlock
