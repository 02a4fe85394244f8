#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace rlock {

/// A process by its number and by when it was started (clock ticks since the system was started): when it has
/// ended, another process may get its number.
struct ProcessId {
  pid_t pid = 0;
  std::int64_t started = 0;

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

/// The living process of this number; nothing if there is none, if it is a zombie, or if /proc does not show it.
std::optional<ProcessId> process_of(std::int64_t pid);

/// Does this very process live? No where /proc does not show it.
bool lives(const ProcessId& process);

/// Is the process `pid` an ancestor of this one? As /proc tells; no where it does not.
bool is_ancestor(std::int64_t pid);

}  // namespace rlock
