#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/hold/command/held_processes.h"
#include "family/command_family.h"
#include "loop/signals.h"
#include "process/child.h"
#include "process/job_control.h"
#include "process/terminal.h"

namespace rlock {

/// The command that runs while a lock is held, and the rules for its end.
struct CommandOptions : StopOptions {
  Command command{};
  std::vector<std::string> marks{};  ///< see CommandFamily
  /// Called in the guardian: releases the lock after rlock was killed or stopped. See Guarded.
  std::function<void(const LeftAlone&)> release_by_guardian{};
  bool until_group = false;
};

/// How the command ended, or why it did not run.
struct [[nodiscard]] CommandOutcome {
  enum class How {
    exited,
    killed,       ///< by `signal`
    not_started,  ///< `error` says why
    interrupted,  ///< `signal` came before the command was started
    too_late,     ///< not started: the time in which the lock is surely ours was over
  } how = How::exited;
  int exit_code = 0;  ///< if it ran: the exit code that a shell would report
  int signal = 0;
  int error = 0;  ///< errno of the failed start
  /// The exit code of a command that could do its work. It is not 0 if --max-hold stopped it. Nothing: it did not run,
  /// or rlock stop ended it.
  std::optional<int> done_exit{};
  bool max_hold = false;                  ///< --max-hold stopped it
  bool said_lost = false;                 ///< the user knows that the lock was lost
  std::optional<std::string> stopped_by;  ///< rlock stop stopped it: sender and reason
  /// The signal of ^C or ^\, which ended the command on its terminal; rlock's own group did not get it.
  std::optional<int> pressed;
  std::vector<pid_t> left;   ///< processes of its group that still run
  bool left_hidden = false;  ///< a process of its group may still run, but /proc does not show it

  bool ran() const noexcept { return how == How::exited || how == How::killed; }
};

/// Was the lock lost? `no` also if there was none.
enum class Lost { no, yes };

/// The exit status of the run. If a signal ended the command, end_like() may end the run by that signal instead.
int exit_status(const CommandOutcome& ended, Lost lost);

/// Runs a command that lives no longer than its lock. Towards its terminal and its parents the command
/// behaves as it would without rlock.
///
/// With StopRules::stop_on_loss the command has a guardian. After the end of the command the guardian guards only the
/// release, until dismiss_guardian().
class HeldCommand {
 public:
  HeldCommand(Loop& loop, Signals& signals, HeldLock lock, CommandOptions options);

  /// Pumps the loop until the command has ended. If the command was stopped, or with --until group, also
  /// waits for its other processes.
  CommandOutcome run();
  void dismiss_guardian() noexcept { processes_.dismiss_guardian(); }  ///< see HeldProcesses

 private:
  void turn(Child& child);
  bool others_must_end(TimePoint now);
  CommandOutcome finish(Child& child);
  void wait_for_hidden(Child& child);
  void wait_for_rest();
  void say_what_stopping_means() const;
  void say_hidden();

  Loop& loop_;
  Signals& signals_;
  CommandOptions options_;
  CommandFamily family_;
  HeldProcesses processes_;
  Terminal terminal_;
  JobControl job_;
  TimePoint first_ended_ = kNever;  ///< when the first process ended
  bool said_hidden_ = false;
};

}  // namespace rlock
