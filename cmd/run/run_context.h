#pragma once

#include <string>

#include "cmd/hold/report/events.h"
#include "cmd/hold/report/hold_report.h"
#include "cmd/run/run_request.h"
#include "cmd/run/status_output.h"
#include "cmd/server/session.h"

namespace rlock {

/// What the three steps of a run share: the request, the record, its outputs, and the session with the server.
struct RunContext {
  const RunRequest& request;
  const std::string found;  ///< the path of the command in PATH; see CommandLookup
  HoldReport& report;       ///< what is known so far; the verb completes it after a failure
  StatusOutput& status;
  Events& events;
  /// Once the session exists, a signal only sets a flag that we check.
  Session session{request.deployment, request.wait, request.quorum};
};

}  // namespace rlock
