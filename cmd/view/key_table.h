#pragma once

#include <string>
#include <vector>

#include "sync/watch/inspect.h"

namespace rlock {

/// One line a key below a line of titles, for a terminal of so many columns; 0: there is none, all is shown
/// whole.
std::vector<std::string> key_table(const std::vector<Inspection>& keys, std::size_t columns);

}  // namespace rlock
