#pragma once

namespace rlock {

struct RunContext;
struct CommandOutcome;
class RunHold;
enum class Lost;

/// The last step of a run: releases its keys, then prints and records how it ended.
Lost release_keys(RunContext& run, RunHold& hold, const CommandOutcome& ended);

}  // namespace rlock
