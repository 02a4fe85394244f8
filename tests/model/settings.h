#pragma once

#include <vector>

#include "world.h"

namespace rlock::model {

/// All that the explorer looks at. Small ones first: they are explored to their end.
std::vector<Setting> all_settings();

}  // namespace rlock::model
