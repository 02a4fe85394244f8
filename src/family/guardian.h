#pragma once

#include <sys/types.h>

#include <optional>

#include "base/descriptor.h"
#include "family/guardian_main.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "loop/source.h"

namespace rlock {

/// A second process that kills the command in time when we cannot: because we are killed, stopped or stuck.
///
/// It has a session of its own. If it dies, we start another one; if it is stopped, we continue it. If we die, it
/// kills what is left of the command, for ten seconds at most, and for a minute more while /proc does not show whose a
/// process is. Then it waits up to five seconds for processes that it does not kill. If none is left, it releases the
/// lock. A Guardian that is destroyed without set_ended() or dismiss(), by an exception, lets its process kill the
/// command.
class Guardian final : public Source {
 public:
  Guardian(Loop& loop, const Signals& signals, Guarded guarded, const Deadlines& deadlines);
  ~Guardian() override;

  /// Sets the group that it guards. The command's process calls it before it becomes the command: from then on the
  /// guardian knows the group, even if we die at once. Allocates nothing.
  void set_group(pid_t group) noexcept;

  /// Moves the deadlines on which the guardian acts. Costs nothing if they are unchanged.
  void set_deadlines(const Deadlines& deadlines) noexcept;

  /// The stop signal has been sent already.
  void set_stop_sent() noexcept;

  /// No process is left to be killed: the guardian signals none any more, and only releases if we die. Call it before
  /// the command's pid is reaped. `exit`: see Order::exit.
  void set_ended(std::optional<int> exit) noexcept;

  /// Ends the guardian, because nothing is left to be guarded.
  void dismiss() noexcept;

  /// The errno with which the guardian's start failed; 0: it runs.
  int start_errno() const noexcept { return start_errno_; }

  pid_t pid() const noexcept { return pid_; }

  /// Ready only at the guardian's end. After dismiss() it is not watched.
  int fd() const override { return dismissed_ ? -1 : orders_.number(); }
  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void start(TimePoint now);
  void replace(TimePoint now);
  void continue_if_stopped() noexcept;
  void reap() noexcept;
  void write(const Order& order) const noexcept;

  Loop& loop_;
  const Signals& signals_;
  int seen_changes_;  ///< of Signals::child_changes()
  Guarded guarded_;
  Deadlines deadlines_;
  pid_t pid_ = -1;
  Descriptor orders_;  ///< the end of its pipe that we write to
  int start_errno_ = 0;
  TimePoint next_start_;  ///< the earliest start of the next guardian, if this one dies
  bool started_before_ = false;
  bool missing_ = false;  ///< the last one has died, and the user knows that no other could be started
  bool stop_sent_ = false;
  bool dismissed_ = false;
  Membership membership_{loop_, *this};
};

}  // namespace rlock
