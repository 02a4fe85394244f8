#pragma once

#include "cmd/run/run_hold.h"

namespace rlock {

/// The last step of a run: releases its keys, then says and records how it ended. Answers whether the lock was
/// lost.
bool release_keys(RunContext& run, RunHold& hold, const CommandOutcome& ended);

void say_why_it_did_not_start(const RunOptions& opt, const CommandOutcome& ended);

/// Ends as the command did: our parent sees the same signal, and on a terminal the rest of our group gets the
/// same key. Nothing may be left to do.
int end_like(const RunOptions& opt, const CommandOutcome& ended, bool lost);

}  // namespace rlock
