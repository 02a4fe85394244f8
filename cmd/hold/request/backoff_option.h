#pragma once

#include "cmd/cli/options.h"
#include "cmd/hold/request/hold_request.h"

namespace rlock {

/// --backoff. A default from a config file counts only for types that poll.
void declare_backoff(VerbSpec& spec, HoldRequest& request);

}  // namespace rlock
