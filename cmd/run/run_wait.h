#pragma once

#include <variant>

#include "cmd/hold/held_keys.h"
#include "cmd/run/run_context.h"

namespace rlock {

/// There is no lock, and the command must run all the same (--if-unreachable run).
struct RunWithoutLock {};

/// The first step of a run: waits until all its keys are held. An exit status means that the run is over without the
/// lock, and that its report is written.
std::variant<HeldKeys, RunWithoutLock, int> wait_for_keys(RunContext& run);

}  // namespace rlock
