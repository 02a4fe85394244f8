#pragma once

#include "cmd/cli/options.h"
#include "cmd/run/run_request.h"

namespace rlock {

/// The options for what `rlock run` tells people and programs: --reason, --label, --show-args, --status-file,
/// --status-fd, --events, --syslog, -q and -v.
void declare_report_options(VerbSpec& spec, RunRequest& request);

/// Would --status-file replace the file of --events?
bool status_replaces_events(const RunRequest& request);

/// Throws Error{usage} if --status-file would replace the file of --events. Call it before either is opened.
void check_reports(const RunRequest& request);

}  // namespace rlock
