#pragma once

#include <string>

#include "base/time.h"

namespace rlock {

/// A duration as scripts take it: "30000".
inline std::string number(Milliseconds duration) { return std::to_string(duration.count()); }

}  // namespace rlock
