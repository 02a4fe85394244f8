#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/hold/request/stop_rules.h"
#include "family/family.h"
#include "family/guardian.h"
#include "loop/exit_watch.h"
#include "loop/signals.h"

namespace rlock {

/// What HeldProcesses must know about the lock of its processes.
struct HeldLock {
  std::function<std::string()> name;     ///< for messages: 'deploy'
  std::function<Deadlines()> deadlines;  ///< the deadlines of the processes; each renewal moves them on
  bool renewed = true;                   ///< false: the deadlines never move
  bool held = true;                      ///< false: the command runs without a lock (--if-unreachable run)
  /// The sender and the reason of a request to end; nothing: there is no request.
  std::function<std::optional<std::string>()> asked_to_stop = [] { return std::nullopt; };
  std::function<void()> read_messages = [] {};  ///< before each look at `lost`
  /// Why the lock is not ours any more; nothing: it is ours.
  std::function<std::optional<std::string>()> lost;
};

/// When and how the processes of a lock are stopped.
struct StopOptions {
  StopRules rules{};
  std::string whom = "the command";  ///< for messages
  TimePoint max_hold = kNever;
  /// If the lock is lost, rlock waits this long after KILL. A longer wait would protect nothing.
  Milliseconds last_tries{1000};
  /// Called with the reason: report_lost once when the lock is lost, report_stopping once when the first signal was
  /// sent. Each may be null.
  std::function<void(const std::string& why)> report_lost{}, report_stopping{};
};

/// The processes for which a lock is held: those of a command or of a script. They must not live longer than the lock.
/// So this class guards them, tells them to end, kills them and waits for them. REQUIRES: loop and family outlive it.
class HeldProcesses {
 public:
  HeldProcesses(Loop& loop, Family& family, HeldLock lock, StopOptions options);

  /// With StopRules::stop_on_loss, starts the guardian, which kills the processes if rlock dies. Returns the errno
  /// of a failed start; 0: it runs, or is not wanted. `guarded`: what it guards; guard() sets Guarded::signal.
  [[nodiscard]] int guard(const Signals& signals, Guarded guarded);
  void guard_group(pid_t group) noexcept;

  /// No process is left to be killed. The guardian stays and releases if rlock dies. If the lock is lost, the guardian
  /// ends, because the next hold may have the same owner. `exit`: see Order::exit.
  void guard_release(std::optional<int> exit) noexcept;
  void dismiss_guardian() noexcept;  ///< call it when no release is left to be guarded, before the last event

  /// Handles the news of a turn of the loop: a lost lock, a request to end, a signal that is due. `ended`:
  /// tells whether the first process has ended by now.
  void turn(TimePoint now, const std::function<bool()>& ended);

  /// The processes have to end now, and get KILL after `grace`. `why`: a text for the user.
  void end(TimePoint now, Milliseconds grace, const std::string& why);

  /// Makes KILL due now.
  void hurry() noexcept { escalation_.hurry(); }

  /// After the end of the first process: must the release wait for other processes? If the processes were stopped,
  /// it waits for all of them. Otherwise it waits for those that `unstopped` finds; then `unstopped` must not be null.
  /// If the lock is lost, it waits at most StopOptions::last_tries for a process that survives KILL. Throws
  /// Error{system} if no descriptor is free to look for processes.
  bool others_must_end(TimePoint now, const std::function<std::vector<pid_t>()>& unstopped);
  void stop_waiting() { next_exit_.reset(); }

  /// Has the first signal been sent to them?
  bool stopping() const noexcept { return escalation_.begun(); }
  bool killing() const noexcept { return escalation_.killing(); }
  bool said_lost() const noexcept { return said_lost_; }
  bool at_max_hold() const noexcept { return at_max_hold_; }
  const std::optional<std::string>& asked_by() const noexcept { return asked_by_; }

  /// of_lock(): the deadlines of the lock. deadlines(): the earliest of these and those of --max-hold and end().
  Deadlines of_lock() const;
  Deadlines deadlines() const;
  TimePoint wake_at() const {
    return earliest(escalation_.wake_at(deadlines()), earliest(say_out_of_reach_at_, search_again_at_));
  }

  const HeldLock& lock() const noexcept { return lock_; }
  void announce(TimePoint now, const std::function<bool()>& ended);
  void say_refused(const std::vector<pid_t>& pids);

 private:
  void read_requests(TimePoint now);
  void escalate(TimePoint now);
  std::vector<pid_t> look_for_others(TimePoint now, const std::function<std::vector<pid_t>()>& unstopped);
  bool go_on_searching(TimePoint now);
  void say_out_of_reach(const std::vector<pid_t>& pids, TimePoint now);
  TimePoint kill_when(TimePoint planned) const;
  std::string how_stopped(TimePoint kill, TimePoint now) const;

  Loop& loop_;
  Family& family_;
  HeldLock lock_;
  StopOptions options_;
  Escalation escalation_;
  std::optional<Guardian> guardian_;
  std::optional<ExitWatch> next_exit_;   ///< watches one of the other processes that must end
  Deadlines end_at_;                     ///< set by end()
  std::optional<std::string> asked_by_;  ///< rlock stop: sender and reason
  std::string end_why_;
  TimePoint first_kill_ = kNever;
  TimePoint say_out_of_reach_at_ = kNever;
  TimePoint searching_since_ = kNever, search_again_at_ = kNever;
  bool at_max_hold_ = false;
  bool said_lost_ = false;
  bool said_refused_ = false;
  bool said_out_of_reach_ = false;
  bool said_long_search_ = false;
};

}  // namespace rlock
