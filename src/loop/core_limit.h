#pragma once

namespace rlock {

/// From here on this process leaves no core file, which would hold passwords: neither in a folder nor through
/// a program that cores are piped to. (PR_SET_DUMPABLE would do that too, but it also hides
/// /proc/PID/environ, by which an outer run finds an inner one that it has to stop.)
void forbid_cores() noexcept;

/// The limit as we found it. For the process of another program,
/// between fork and exec: no allocation, system calls only.
void restore_core_limit() noexcept;

}  // namespace rlock
