#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loop/child.h"
#include "loop/exit_watch.h"
#include "loop/family.h"
#include "loop/guardian.h"
#include "loop/job_control.h"
#include "loop/signals.h"
#include "loop/terminal.h"

namespace rlock {

/// What a held command has to know about its lock.
struct HeldLock {
  std::string name;                      ///< for messages: 'deploy'
  std::function<Deadlines()> deadlines;  ///< until when the command may run; moves on with each renewal
  bool renewed = true;                   ///< else they never move
  bool held = true;                      ///< false: the command runs without a lock (--if-unreachable run)
  /// Who asks us to end it, and why; nothing: nobody does.
  std::function<std::optional<std::string>()> asked_to_stop = [] { return std::nullopt; };
  std::function<std::optional<std::string>()> lost;  ///< why it is not ours any more; nothing while it is
};

/// What to run while a lock is held, and what ends it.
struct HoldOptions {
  Command command;
  std::vector<std::string> marks;  ///< see Family
  /// Releases the lock for us when we are killed or stopped: see Guarded.
  std::function<void(RlockEnd)> release_by_guardian{};
  int signal = 15;                ///< how it is stopped
  Milliseconds kill_after{5000};  ///< between that and KILL at max_hold
  TimePoint max_hold = kNever;
  bool stop_on_loss = true;
  bool until_group = false;
  /// Told that the lock is lost, and that the command is being stopped, each once, and why. Null: nobody is.
  std::function<void(const std::string& why)> tell_lost{}, tell_stopping{};
};

/// How the command ended, or why it did not run.
struct [[nodiscard]] CommandOutcome {
  int exit_code = 0;               ///< what a shell would say
  std::optional<int> signal;       ///< which one killed it
  int not_started = 0;             ///< errno; 0: it ran
  std::optional<int> interrupted;  ///< it was not even tried: this signal came before
  bool too_late = false;  ///< it was not even tried: the time in which the lock is surely ours was over
  bool max_hold = false;  ///< --max-hold stopped it
  std::optional<std::string> stopped_by;  ///< rlock stop stopped it: who, and why
  std::optional<int>
      pressed;               ///< ^C or ^\ on its terminal ended it: the signal that our own group has not got
  std::vector<pid_t> left;   ///< of its group, still running
  bool left_hidden = false;  ///< somebody of its group may still run whom /proc does not show

  bool ran() const noexcept { return not_started == 0 && !interrupted && !too_late; }
};

/// The exit status of the run, unless it ends by a signal as its command did. `lost`: the lock was lost.
int exit_status(const CommandOutcome& ended, bool lost);

/// Runs a command that lives no longer than its lock, and that behaves towards its terminal and its parents
/// as it would without us.
///
/// With HoldOptions::stop_on_loss it has a guardian, which ends with it: so the release does not wait for
/// the guardian.
class HeldCommand {
 public:
  HeldCommand(Loop& loop, Signals& signals, HeldLock lock, HoldOptions options);
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;

  /// Pumps the loop until the command has ended and, where it had
  /// to be stopped or --until group was given, the others too.
  CommandOutcome run();

 private:
  void turn(Child& child);
  void escalate(TimePoint now);
  void hear_requests(TimePoint now);
  void announce(Child& child, TimePoint now);
  bool others_matter(TimePoint now);
  bool wait_for(const std::vector<pid_t>& others);
  CommandOutcome finish(Child& child);
  void wait_for_hidden(Child& child);
  void wait_for_rest();
  Deadlines deadlines() const;
  Deadlines of_lock() const;
  std::string what_follows(const Child& child, TimePoint now) const;
  std::string how_it_is_stopped(TimePoint kill, TimePoint now) const;
  void say_what_stopping_means() const;
  void say_refused(const std::vector<pid_t>& pids);
  void say_hidden();

  Loop& loop_;
  Signals& signals_;
  HeldLock lock_;
  HoldOptions options_;
  Family family_;
  Escalation escalation_;
  Terminal terminal_;
  JobControl job_;
  std::optional<Guardian> guardian_;
  std::optional<ExitWatch> next_exit_;  ///< of somebody whose end we wait for
  TimePoint first_ended_ = kNever;      ///< when the first process had ended
  bool at_max_hold_ = false;
  std::optional<std::string> asked_by_;  ///< rlock stop: who, and why
  TimePoint asked_at_ = kNever;
  bool said_lost_ = false;
  bool said_refused_ = false;
  bool said_hidden_ = false;
};

}  // namespace rlock
