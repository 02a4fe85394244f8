#pragma once

#include <string>
#include <vector>

#include "sync/watch/inspection.h"

namespace rlock {

/// The text for Prometheus: a gauge for each fact, with the keys that have it. The names follow the rules of
/// promtool. `complete`: nothing is missing. REQUIRES: each key comes once.
std::string metrics_text(const std::vector<Inspection>& keys, bool complete);

}  // namespace rlock
