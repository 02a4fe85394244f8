#pragma once

#include "cmd/cli/options.h"
#include "cmd/run/hold_request.h"

namespace rlock {

/// --backoff. Its default counts for the types that poll only.
void declare_backoff(VerbSpec& spec, HoldRequest& options);

}  // namespace rlock
