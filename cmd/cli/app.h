#pragma once

#include <string>
#include <vector>

#include "base/time.h"

namespace rlock {

/// From the words behind "rlock" to the exit status: finds the verb, reads its options, lets it act.
/// `started`: when this process began. Throws Error; main() knows what that means.
int app(TimePoint started, const std::vector<std::string>& words);

}  // namespace rlock
