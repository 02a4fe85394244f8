#pragma once

#include <string>
#include <vector>

#include "sync/watch/inspect.h"

namespace rlock {

/// What Prometheus reads: a gauge for each fact, of each key that has it. Names end as promtool wishes them.
/// `complete`: nothing was cut short. REQUIRES: each key once.
std::string metrics_text(const std::vector<Inspection>& keys, bool complete);

}  // namespace rlock
