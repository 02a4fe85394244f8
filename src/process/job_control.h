#pragma once

#include <functional>
#include <set>

#include "loop/signals.h"
#include "process/child.h"
#include "process/terminal.h"

namespace rlock {

/// Makes a command in its own group look like one in our group. The terminal, the shell above us, and processes that
/// signal us see no difference.
///
/// If a process sends us a signal, the command's group gets it too. Signals of the terminal are forwarded unless the
/// command has the terminal, because then it got them itself. If the command is stopped by ^Z, we stop too. If it is
/// stopped because it wants the terminal, it gets the terminal as soon as we have it.
class JobControl {
 public:
  /// `before_stop` is called before we stop with the command, because a stopped rlock does not renew.
  JobControl(Signals& signals, Terminal& terminal, std::function<void()> before_stop);

  /// Handles stops of the command and signals to us.
  void turn(Child& child, TimePoint now);

  /// Continues the command after a stop. Call it when the lock is known to be held still.
  void resume(const Child& child);
  bool wants_to_resume() const noexcept { return resume_; }

  /// The command has ended: takes the terminal back and, if `killed`, restores its modes. Returns true if the
  /// command had the terminal until then.
  bool end(bool killed);

  /// Did the command's group get a signal that we were not allowed to send?
  bool refused() const noexcept { return refused_; }

  /// The signals that were forwarded to the command.
  const std::set<int>& forwarded() const noexcept { return forwarded_; }

  TimePoint wake_at() const noexcept { return earliest(waiting_ ? next_claim_ : kNever, continue_at_); }

 private:
  void on_stop(Child& child, int by, TimePoint now);
  void on_signal(const Child& child, const Caught& caught, TimePoint now);
  void claim_terminal(const Child& child, TimePoint now);
  enum class Whom { us, our_group };
  void stop_too(Whom whom);
  void forward(const Child& child, int number);

  Signals& signals_;
  Terminal& terminal_;
  std::function<void()> before_stop_;
  bool resume_ = false;
  bool refused_ = false;
  bool wanted_ = false;          ///< the command has asked for the terminal at least once, by being stopped
  bool waiting_ = false;         ///< the command is stopped until we can lend it the terminal
  bool said_ = false;            ///< the user was told about it
  bool stop_forwarded_ = false;  ///< TSTP was forwarded, and the command has not stopped yet
  bool others_wait_ = false;  ///< another process of our group was stopped while the command had the terminal
  TimePoint next_claim_ = kNever;
  TimePoint stop_forwarded_at_ = kNever;  ///< when TSTP was forwarded
  /// CONT came before the stop: resume at this time, or as soon as the command stops.
  TimePoint continue_at_ = kNever;
  std::set<int> forwarded_;
};

/// Sends `number` to our whole process group, including us. Call it if only the command's group got the ^C: a
/// shell loop around rlock must end as it would without rlock.
void share_with_group(int number) noexcept;

}  // namespace rlock
