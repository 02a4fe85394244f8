#pragma once

#include <vector>

#include "cmd/hold/hold_request.h"
#include "loop/guardian_main.h"
#include "sync/kinds/lockable.h"
#include "sync/wait/acquire_request.h"
#include "sync/watch/history.h"

namespace rlock {

/// Called in a guardian after rlock was killed or stopped, and the processes of the command or script have ended.
/// Releases the holds over new connections. If the lock has another owner by now, the release changes nothing. If rlock
/// was killed, reports `past` to --events and --syslog. If rlock was stopped, rlock reports the end when it goes on.
void release_in_guardian(const HoldRequest& request, RlockEnd how, const PastHold& past,
                         const std::vector<Part>& parts, const ReleaseOptions& options);

}  // namespace rlock
