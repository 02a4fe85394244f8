#pragma once

#include "cmd/run/run_options.h"
#include "sync/watch/metadata.h"

namespace rlock {

// What people see of a holder: the record that stands beside a hold. All of it is built here.

/// Of a run: its command, its reason and labels, and how it is stopped.
Metadata facts_of(const RunOptions& run);

/// Of `lock acquire`: the script that asks us, and not we, who end at once.
Metadata facts_of(const HoldRequest& request);

/// Of what `permit acquire` and `sem acquire` take, for the script that asks us.
Metadata about_the_script();

}  // namespace rlock
