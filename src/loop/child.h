#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "loop/environment.h"
#include "loop/loop.h"
#include "loop/source.h"

namespace rlock {

/// What to run: argv byte for byte, no shell.
struct Command {
  std::vector<std::string> argv;
  Variables variables;  ///< what its environment gains and loses
  std::string found{};  ///< where PATH had it some time ago; if it is gone from there, PATH is searched again
};

/// A command that runs in a process group of its own and is killed by the kernel when we end.
///
/// Entirely passive: after a turn look at ended() and take_stop(). One that has ended keeps its pid, and so
/// its group keeps its number, until reap(): a signal to the group before that cannot reach another process.
/// As PID 1 we reap the orphans too.
/// REQUIRES: SIGCHLD is blocked and not ignored (Signals sees to that).
class Child final : public Source {
 public:
  /// Called in the command's process, before it becomes the command, with its pid. It runs in our memory
  /// while we wait, so whatever it changes stays changed: no allocation, no locks, system calls only.
  using Prelude = std::function<void(pid_t self)>;

  /// Starts it, or knows why not: start_errno().
  Child(Loop& loop, const Command& command, const Prelude& prelude);
  ~Child() override;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Why it did not start: the program cannot be executed, or
  /// there can be no new process (EAGAIN, ENOMEM, ...). 0: it did.
  int start_errno() const noexcept { return start_errno_; }

  /// Its pid, which is its group's number too.
  pid_t pid() const noexcept { return pid_; }

  /// As of the last turn or look().
  bool ended() const noexcept { return ended_; }

  /// Asks the kernel what has happened since the last turn.
  void look();

  /// The signal that has stopped it, once for each stop, and not when it already runs again.
  std::optional<int> take_stop() noexcept;

  /// Does it stand still now?
  bool stopped() const noexcept { return stopped_; }

  /// Signals its group. Returns 0 or an errno (EPERM: we may not signal any process in it).
  int signal(int number) const noexcept;

  /// Lets go of its pid; answers its wait status. REQUIRES: ended()
  int reap();

  int fd() const override { return changes_.number(); }
  short interest() const override;
  void ready(short events, TimePoint now) override;

 private:
  Loop& loop_;
  pid_t pid_ = -1;
  Descriptor changes_;  ///< readable when some child of ours has ended, stopped or continued
  int start_errno_ = 0;
  bool ended_ = false;
  bool reaped_ = false;
  bool stopped_ = false;
  std::optional<int> stop_;
};

/// What a shell would say: the status, or 128 + the signal that ended it.
int exit_code_of(int wait_status) noexcept;

/// The signal that ended it, if one did.
std::optional<int> signal_of(int wait_status) noexcept;

}  // namespace rlock
