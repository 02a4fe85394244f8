#pragma once

#include "cmd/hold/report/events.h"

namespace rlock {

class StatusOutput;
struct HoldReport;
struct RunRequest;

/// Finds the command, acquires the lock, runs the command and releases. Returns the exit status. Completes `report`,
/// which has the facts of report_of(), and writes it to `status`. If it throws Error, it has written nothing,
/// `report` has the facts so far, and the verb writes it. Opens `events` (--events, --syslog), and reports to it.
/// REQUIRES: all outlive the run.
int run(const RunRequest& request, HoldReport& report, StatusOutput& status, Events& events);

}  // namespace rlock
