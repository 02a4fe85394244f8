#pragma once

#include <variant>

#include "cmd/hold/keys/held_keys.h"

namespace rlock {

struct RunContext;

/// There is no lock, and the command must run all the same (--if-unreachable run).
struct RunWithoutLock {};

/// There is no lock, and the run is over. Its report is written.
struct RunIsOver {
  int exit;
};

/// The first step of a run: waits until all its keys are held.
std::variant<HeldKeys, RunWithoutLock, RunIsOver> wait_for_keys(RunContext& run);

}  // namespace rlock
