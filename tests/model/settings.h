#pragma once

#include <vector>

#include "world.h"

namespace rlock::model {

/// All settings of the explorer. Small ones come first: they are explored to the end.
std::vector<Setting> all_settings();

}  // namespace rlock::model
