#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/time.h"

namespace rlock {

/// The `candidates` for which `is_one` is true, as far as that is known at `until`. `is_one` may hang, because the
/// kernel makes a reader of /proc wait while the candidate changes its memory. That takes long if the candidate gets
/// no processor. So `is_one` runs in another process (if one can be started). If that hangs, the search goes on with
/// the next candidate.
std::vector<pid_t> find_apart(std::vector<pid_t> candidates, const std::function<bool(pid_t)>& is_one,
                              TimePoint until);

}  // namespace rlock
