#pragma once

#include <functional>
#include <optional>

#include "loop/child.h"
#include "loop/signals.h"
#include "loop/terminal.h"

namespace rlock {

/// Makes a command in a group of its own look like one that runs in ours:
/// to the terminal, to the shell above us, and to processes that signal us.
///
/// Signals that a process sends us go to the command's group, each time; those of the terminal only while it
/// is ours, for else the command has got them. When the command is stopped on the terminal we stop with it;
/// when it is stopped because it wants the terminal, it gets it as soon as it is ours to give.
class JobControl {
 public:
  /// `before_stop` is called before we stop with the command: a stopped rlock does not renew.
  JobControl(Signals& signals, Terminal& terminal, std::function<void()> before_stop);

  /// Looks at what has come: stops of the command, signals to us.
  void turn(Child& child, TimePoint now);

  /// The command may go on after a stop. To be called when the lock is found to be good still.
  void resume(const Child& child);
  bool wants_to_resume() const noexcept { return resume_; }

  /// The command has ended: the terminal is ours again. `killed`: its modes too.
  /// Answers whether the command had it until then.
  bool end(bool killed);

  /// Did the command's group get a signal that we may not send to any of its processes?
  bool refused() const noexcept { return refused_; }

  /// The last signal that was passed on to the command.
  std::optional<int> passed_on() const noexcept { return passed_on_; }

  TimePoint wake_at() const noexcept { return earliest(waiting_ ? next_claim_ : kNever, continue_at_); }

 private:
  void on_stop(Child& child, int by, TimePoint now);
  void on_signal(const Child& child, const Caught& caught, TimePoint now);
  void claim_terminal(const Child& child, TimePoint now);
  void stop_too(bool group);
  void pass_on(const Child& child, int number);

  Signals& signals_;
  Terminal& terminal_;
  std::function<void()> before_stop_;
  bool resume_ = false;
  bool refused_ = false;
  bool wanted_ = false;        ///< the command has once asked for the terminal by being stopped
  bool waiting_ = false;       ///< it is stopped until the terminal is ours to give
  bool said_ = false;          ///< that it is
  bool told_to_stop_ = false;  ///< TSTP was passed on, and the command has not stopped yet
  bool others_wait_ = false;  ///< another process of our group was stopped while the command had the terminal
  TimePoint next_claim_ = kNever;
  TimePoint told_at_ = kNever;      ///< when TSTP was passed on
  TimePoint continue_at_ = kNever;  ///< CONT came before the stop: resumed by then, or as soon as it stops
  std::optional<int> passed_on_;
};

/// Sends `number` to our whole process group, ourselves included. For an interruption that the command's
/// group alone has seen, so that an enclosing loop ends as it would without us.
void share_with_group(int number) noexcept;

}  // namespace rlock
