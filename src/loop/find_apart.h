#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/time.h"

namespace rlock {

/// The `candidates` for which `is_one` is true, as far as that is known at `until`. `is_one` runs in another
/// process, because it may hang: the kernel makes readers wait while the candidate changes its memory, for long
/// if the candidate gets no processor. If this takes too long, the search goes on with the next candidate.
std::vector<pid_t> find_apart(std::vector<pid_t> candidates, const std::function<bool(pid_t)>& is_one,
                              TimePoint until);

}  // namespace rlock
