#pragma once

namespace rlock {

/// From now on this process leaves no core, which would contain passwords: neither as a file nor through a
/// program. PR_SET_DUMPABLE would do that too, but it hides /proc/PID/environ. An outer run needs that file
/// to find an inner run that it must stop.
void forbid_cores() noexcept;

/// Restores the limit that we started with. The process of the command calls it between fork and exec, so it
/// allocates nothing and uses only system calls.
void restore_core_limit() noexcept;

}  // namespace rlock
