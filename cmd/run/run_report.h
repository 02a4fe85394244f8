#pragma once

#include "cmd/run/hold.h"
#include "cmd/run/lock_set.h"
#include "cmd/run/run_options.h"
#include "cmd/run/status.h"
#include "redis/executor.h"
#include "sync/acquire.h"
#include "sync/release.h"

namespace rlock {

/// What a server said, in the word of the status record; "late": nothing, before enough others had decided.
std::string_view text_of(Said said);

/// What is known before anything has been asked: keys and type.
RunReport report_of(const RunOptions& options);

/// No lock: why, and which exit status says so.
void report_gave_up(RunReport& report, const Executor& redis, const GaveUp& gave_up, int exit);

/// The lock is ours.
void report_taken(RunReport& report, const Executor& redis, const Owner& owner, const Taken& taken,
                  Milliseconds waited);

/// The command has ended. `lost`: why the lock was lost; nothing: it was not.
void report_ended(RunReport& report, const Ended& ended, const std::optional<std::string>& lost,
                  Milliseconds held, int exit);

/// What became of the release, of all keys together: the worst counts.
RunReport::Released released_of(const std::vector<GivenBack>& answers);

}  // namespace rlock
