#pragma once

#include <sys/types.h>

#include <optional>

#include "base/ancestry.h"
#include "loop/exit_watch.h"
#include "loop/loop.h"

namespace rlock {

/// The process that --while-pid names, as it is now. Throws Error{usage} if there is no such process, if we may
/// not signal it, or if it is PID 1 and not our own parent; Error{config} if /proc does not show it.
ProcessId expect_script(pid_t script);

/// Ends a turn of the loop when the script ends.
class ScriptWatch {
 public:
  ScriptWatch(Loop& loop, const ProcessId& script) : loop_(loop), script_(script) {}

  /// It has ended, or is a zombie; another process with its number does not count. Once true it stays so.
  bool ended();

 private:
  Loop& loop_;
  ProcessId script_;
  std::optional<ExitWatch> exit_;
  bool ended_ = false;
};

}  // namespace rlock
