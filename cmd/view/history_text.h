#pragma once

#include <string>

#include "cmd/cli/json.h"
#include "sync/records/history.h"

namespace rlock {

/// One line: "2026-11-21 03:12:07  alice@ci-7 pid 4121 (make) "hotfix 42", waited 3s, held 12m03s: exit 0".
std::string past_text(const PastHold& past);

/// The last holder of a free key: "last: alice@ci-7 pid 4121 (make), 3m12s ago: exit 0".
std::string last_text(const PastHold& past, ServerTime now);

Json past_json(const PastHold& past);

}  // namespace rlock
