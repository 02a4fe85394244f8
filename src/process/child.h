#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "loop/signals.h"
#include "loop/source.h"
#include "process/environment.h"

namespace rlock {

/// The program to run. argv is passed as it is, without a shell.
struct Command {
  std::vector<std::string> argv;
  Variables variables;  ///< changes to the environment
  std::string found{};  ///< its path, found earlier; if it is gone from there, PATH is searched again
  /// A file that the kernel cannot execute is a script for /bin/sh, as for execvp(3).
  bool or_script = false;
  bool outlives_us = false;  ///< it has no lock, so it runs on if we are killed
};

/// A command in its own process group. The kernel kills the command's first process when we end, except with
/// Command::outlives_us.
///
/// It is passive: after a turn, look at ended() and take_stop(). A command that has ended keeps its pid, and so its
/// group's number, until reap(). So a signal to the group cannot reach a later group with the same number. As PID 1
/// this class also reaps orphans.
class Child final : public Source {
 public:
  /// Called with the command's pid in the command's process, before execve(). It runs in our memory while we
  /// wait, so its changes stay. It must not allocate or lock, and may only use system calls. The signal mask
  /// and dispositions of our start are restored after it.
  using Prelude = std::function<void(pid_t self)>;

  /// Starts it. If it cannot be started, start_errno() has the reason.
  Child(Loop& loop, const Signals& signals, const Command& command, const Prelude& prelude);

  /// Why it did not start: the program cannot be executed, or there can be no new process (EAGAIN, ENOMEM,
  /// …). 0: it started.
  int start_errno() const noexcept { return start_errno_; }

  /// Its pid, which is also its group's number.
  pid_t pid() const noexcept { return pid_; }

  /// Has it ended, as of the last turn or look()?
  bool ended() const noexcept { return ended_; }

  /// Asks the kernel for news since the last turn.
  void look();

  /// The signal that stopped it: once for each stop, and only if it is still stopped.
  std::optional<int> take_stop() noexcept;

  /// Is it stopped now?
  bool stopped() const noexcept { return stopped_; }

  /// Sends a signal to its group, or to the command alone if it has left the group and the group is empty. Returns 0
  /// or an errno (EPERM: we may not signal any of these processes).
  int signal(int number) const noexcept;

  /// Its exit code, also before reap(). REQUIRES: ended()
  int exit_code() const noexcept { return exit_code_; }

  /// Releases its pid and returns its wait status. REQUIRES: ended()
  int reap();

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  const Signals& signals_;
  const pid_t self_;  ///< the pid of rlock
  int seen_changes_;  ///< of Signals::child_changes()
  pid_t pid_ = -1;
  int start_errno_ = 0;
  bool ended_ = false;
  int exit_code_ = 0;
  bool reaped_ = false;
  bool stopped_ = false;
  std::optional<int> stop_;
  std::optional<Membership> membership_;  ///< empty: it was not started
};

/// The exit status as a shell reports it: the status, or 128 + the signal.
int exit_code_of(int wait_status) noexcept;

/// The signal that ended the process; empty: no signal did.
std::optional<int> signal_of(int wait_status) noexcept;

}  // namespace rlock
