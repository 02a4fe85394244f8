#pragma once

#include <functional>
#include <vector>

#include "base/ancestry.h"
#include "cmd/server/deployment.h"
#include "sync/acquire.h"
#include "sync/history.h"
#include "sync/lease.h"
#include "sync/wish.h"

namespace rlock {

/// What the keeper of a script has to know: `lock acquire --while-pid`.
struct ScriptHold {
  ProcessId script;
  Deployment deployment;
  std::vector<Part> parts;  ///< what the script holds
  PastHold past;            ///< for the history of its keys: who, since when; how it ends is not known yet
  Lease lease;              ///< as it was taken
  int signal = 15;          ///< how the script is stopped when the lock is lost
  Milliseconds kill_after{5000};  ///< between that and KILL when somebody asks the script to end
  bool stop_on_loss = true;
  int sync_replicas = 0;
  Milliseconds sync_timeout{1000};
};

/// Leaves a process behind (loop/background) that keeps `hold` until the script ends, or somebody releases it
/// by its owner, and returns when that process is at work.
///
/// The keeper is guarded as rlock run is: when it is killed, stopped or stuck, its guardian stops the script
/// in time. Throws Error{system} when there can be no such process, or when the script has ended.
void start_script_keeper(const ScriptHold& hold);

}  // namespace rlock
