#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace rlock {

/// A process, identified by its number and its start time (in clock ticks since the system started). After
/// its end, another process may get the same number.
struct ProcessId {
  pid_t pid = 0;
  std::int64_t started = 0;

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

/// The facts about a process in /proc/PID/stat.
struct ProcessFacts {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = 0;          ///< 'R', 'S', 'T', 'Z', …
  bool of_kernel = false;  ///< a thread of the kernel, which no signal ends
  int threads = 0;
  /// The clock ticks from the boot to its start. They tell apart processes that had the same number.
  std::int64_t started = 0;

  /// A zombie does not live. But if only the first thread of a process has ended, the process lives.
  bool alive() const noexcept { return (state != 'Z' && state != 'X') || threads > 1; }
  bool stopped() const noexcept { return state == 'T' || state == 't'; }
};

/// Empty: there is no such process, or /proc does not show it. Then errno says whether nothing could be read because of
/// a shortage.
std::optional<ProcessFacts> stat_of(std::int64_t pid);

/// Does an errno say that no descriptor or memory is free?
bool is_shortage(int error) noexcept;

/// At most so many ancestors of a process are read. A chain of parents that changes meanwhile could lead in a circle.
constexpr int kDeepestAncestry = 256;

/// The living process with this number. Empty: there is none, it is a zombie, or /proc does not show it.
std::optional<ProcessId> process_of(std::int64_t pid);

/// Does this process live? False if /proc does not show it; true if no descriptor or memory is free to look there.
bool lives(const ProcessId& process);

/// The boot of this system and our pid namespace: "BOOT pid:[INODE]". Only together with this text, a process id and
/// a start time identify a process. Two hosts, or two containers with pid namespaces of their own, may have the same
/// host name, but not the same text. It is looked up once, and is empty if /proc does not show it.
const std::string& pid_space();

/// Is the process `pid` our parent, or an ancestor that /proc shows? If /proc does not show a process, the search
/// ends there.
bool is_ancestor(std::int64_t pid);

}  // namespace rlock
