#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rlock {

/// A process as /proc/PID/stat describes it.
struct ProcessFacts {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = 0;  ///< 'R', 'S', 'T', 'Z', ...
  int threads = 0;
  std::int64_t started =
      0;  ///< in clock ticks since the boot; tells a process from a later one of its number

  /// A zombie does not live, but a process lives on when only its first thread has ended.
  bool alive() const noexcept { return (state != 'Z' && state != 'X') || threads > 1; }
  bool stopped() const noexcept { return state == 'T' || state == 't'; }
};

/// nullopt if there is no such process, or if /proc does not show it.
std::optional<ProcessFacts> facts_of(pid_t pid);

/// Where the stack of a process begins; 0: that is not known. The kernel chooses the place by chance at each exec,
/// if has_random_addresses(): two processes with the same one were forked from the same program.
std::uint64_t stack_of(pid_t pid);
bool has_random_addresses(pid_t pid);

/// The numbers of all processes that /proc shows; none where it does not show us.
std::vector<pid_t> all_processes();

/// Does /proc show this process, and by the number that kill() takes? Not in a chroot without it, nor where it
/// is that of another pid namespace.
bool proc_shows_us();

/// Does /proc hide other users' processes from us (its mount option hidepid)?
bool proc_hides_others();

/// The contents of /proc/PID/FILE; empty if it is empty or cannot be read.
std::string proc_text(pid_t pid, const char* file);

/// The children of processes, as of now. Each question costs one file if the kernel lists the children of a
/// process; else the first question costs one pass over /proc.
class Parentage {
 public:
  std::vector<pid_t> children_of(const ProcessFacts& parent);

 private:
  std::optional<std::multimap<pid_t, pid_t>> children_;  ///< by parent; empty before the first look
};

}  // namespace rlock
