#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ancestry.h"

namespace rlock {

/// Empty: there is no such process, or /proc does not show it.
std::optional<ProcessFacts> facts_of(pid_t pid);

/// False if /proc does not show it.
bool is_alive(pid_t pid);

/// The numbers of all processes in /proc. Empty if /proc does not show us.
std::vector<pid_t> all_processes();

/// The number that the kernel assigned last; 0: unknown. Mostly it assigns them in ascending order.
pid_t newest_process();

/// Does /proc show this process under its own number? If not, a process that /proc does not show may live. The answer
/// is no in a chroot without /proc, if /proc is of another pid namespace, and while no descriptor is free to read it.
bool proc_shows_us();

/// How many files of /proc were not read because no descriptor or memory was free. If the number grows during a search,
/// the search may have missed a process.
int unread_files() noexcept;

/// Does /proc hide other users' processes from us (mount option hidepid)?
bool proc_hides_others();

/// Why we can send no signal to this process: ESRCH, EPERM. 0: we can.
int why_no_signal(pid_t pid) noexcept;

/// The contents of /proc/PID/FILE, 8 MiB of them at most; nothing if the file cannot be opened. The kernel makes a reader
/// of `environ` and `cmdline` wait while the process changes its memory: for seconds if it gets no processor.
std::optional<std::string> proc_text(pid_t pid, const char* file);

/// The threads of a process; empty if /proc does not show them.
std::vector<pid_t> threads_of(pid_t pid);

/// The current children of processes. If the kernel lists the children of a process, each question reads one file for
/// each of its threads. Otherwise the first question reads all of /proc, and later ones use what it found.
class Parentage {
 public:
  std::vector<pid_t> children_of(const ProcessFacts& parent);

 private:
  std::optional<std::multimap<pid_t, pid_t>> children_;  ///< by parent; not set before the first question
};

}  // namespace rlock
