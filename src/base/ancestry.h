#pragma once

#include <cstdint>

namespace rlock {

/// Is the process `pid` an ancestor of this one? As /proc tells; no where it does not.
bool is_ancestor(std::int64_t pid);

}  // namespace rlock
