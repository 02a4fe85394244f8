#include "cmd/hold/wait/script_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor.h"
#include "base/error.h"
#include "family/family.h"
#include "process/processes.h"

namespace rlock {
namespace {

/// A keeper has so many besides the standard streams. They are a timer, the signals, one end of each of two pipes for
/// its start, and both ends of the pipe to the guardian. The others are a pidfd of the script, a pidfd of another
/// process, and a file of /proc.
constexpr std::size_t kOfKeeper = 9;

/// A connection, and a pipe while the name is looked up.
constexpr std::size_t kOfServer = 2;

/// How many more descriptors this process can open, up to `most`.
std::size_t free_descriptors(std::size_t most) {
  std::vector<Descriptor> open;
  while (open.size() < most) {
    Descriptor next{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)};
    if (!next) break;
    open.push_back(std::move(next));
  }
  return open.size();
}

}  // namespace

void expect_descriptors(std::size_t servers) {
  const std::size_t needed = kOfKeeper + kOfServer * servers;
  const std::size_t free = free_descriptors(needed);
  if (free == needed) return;
  throw Error{
      Error::system,
      fmt::format(
          "--while-pid: the process that keeps the lock needs {} file descriptors, and only {} are free; "
          "raise RLIMIT_NOFILE (ulimit -n)",
          needed, free)};
}

ProcessId expect_script(pid_t script) {
  expect_descriptors(1);
  // Unless PID 1 is our parent, it is init: to stop it after a loss would end the machine or container.
  if (script == 1 && ::getppid() != 1)
    throw Error{Error::usage,
                "--while-pid: process 1 is the system's first process, and not the script that runs this"};
  const int why_not = why_no_signal(script);
  if (why_not == EPERM)
    throw Error{Error::usage,
                fmt::format("--while-pid: process {} is another user's, and could not be stopped", script)};
  if (why_not != 0) throw Error{Error::usage, fmt::format("--while-pid: there is no process {}", script)};
  if (!proc_shows_us())
    throw Error{Error::config,
                "--while-pid: /proc does not show which processes the script has started; mount it"};
  if (const auto facts = facts_of(script); facts && facts->of_kernel)
    throw Error{Error::usage, fmt::format("--while-pid: process {} is a thread of the kernel", script)};
  if (std::ranges::count(all_processes(), script) == 0 && facts_of(script))
    throw Error{
        Error::usage,
        fmt::format("--while-pid: {} is a thread of a process; give the process itself ($$)", script)};
  if (const auto process = process_of(script)) return *process;
  throw Error{Error::usage, fmt::format("--while-pid: process {} has ended", script)};
}

bool ScriptWatch::ended() {
  if (ended_ || (exit_ && !exit_->over())) return ended_;
  exit_.reset();
  // The watch comes first. If it came second, the script could end between the two calls, and another process could
  // get its PID.
  exit_.emplace(loop_, script_.pid);
  ended_ = !lives(script_);
  if (ended_) exit_.reset();
  return ended_;
}

}  // namespace rlock
