#pragma once

#include <variant>

#include "cmd/hold/held_keys.h"
#include "cmd/run/run_context.h"

namespace rlock {

/// The first step of a run: waits until all its keys are held. If it gives up, or runs the command without a
/// lock (--if-unreachable), the run is over, and it returns the exit status.
std::variant<HeldKeys, int> wait_for_keys(RunContext& run);

}  // namespace rlock
