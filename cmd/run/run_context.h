#pragma once

#include "cmd/run/events.h"
#include "cmd/run/run_options.h"
#include "cmd/run/run_report.h"
#include "cmd/run/status_record.h"
#include "cmd/server/session.h"

namespace rlock {

/// What the three steps of a run share: what is wanted, the server, and where to say what happens.
struct RunContext {
  const RunOptions& opt;
  StatusRecord& status;
  Events& events;
  /// From here on a signal only sets a flag that we check.
  Session session{opt.deployment, opt.wait, opt.quorum_all};
  RunReport report = report_of(opt);
};

}  // namespace rlock
