#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sync/watch/inspection.h"

namespace rlock {

/// A line of titles and one line for each key, cut to this many columns; 0: there is no terminal, and nothing
/// is cut.
std::vector<std::string> key_table(const std::vector<Inspection>& keys, std::size_t columns);

}  // namespace rlock
