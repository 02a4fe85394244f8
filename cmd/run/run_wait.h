#pragma once

#include <variant>

#include "cmd/run/held_keys.h"
#include "cmd/run/run_context.h"

namespace rlock {

/// The first step of a run: waits until all its keys are held. Where that is in vain, or the command runs without a
/// lock (--if-unreachable), the run is over: then the exit status, when all has been said and recorded.
std::variant<HeldKeys, int> wait_for_keys(RunContext& run);

}  // namespace rlock
