#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "base/ancestry.h"
#include "loop/exit_watch.h"
#include "loop/loop.h"

namespace rlock {

/// Throws Error{system} if rlock cannot open as many descriptors as the keeper of a script needs for so many servers.
void expect_descriptors(std::size_t servers);

/// Identifies the process of --while-pid. Throws Error{usage} if there is no such process, or if we may not signal it.
/// The same error refuses a thread of the kernel, and PID 1 unless it is our parent. Throws Error{config} if /proc is
/// not mounted for our PID namespace, and Error{system} if too few descriptors are free for a keeper.
ProcessId expect_script(pid_t script);

/// Wakes the loop when the script ends.
class ScriptWatch {
 public:
  ScriptWatch(Loop& loop, const ProcessId& script) : loop_(loop), script_(script) {}

  /// Has the script ended, or is it a zombie? A later process with the same number does not count. Once true,
  /// it stays true.
  bool ended();

 private:
  Loop& loop_;
  ProcessId script_;
  std::optional<ExitWatch> exit_;
  bool ended_ = false;
};

}  // namespace rlock
