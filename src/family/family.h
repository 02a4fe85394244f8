#pragma once

#include <sys/types.h>

#include <vector>

#include "base/time.h"
#include "process/processes.h"

namespace rlock {

/// The processes that have to stop together, and those that a release has to wait for: of a command
/// (CommandFamily), or of a script (ScriptFamily).
///
/// It reads /proc at each question, because processes fork and end at any moment. Before we use a process id, another
/// process may have got it, above all in a guardian that wakes up after days. So a process is identified by more than
/// its id.
class Family {
 public:
  virtual ~Family() = default;

  /// Does /proc show us all processes? If not, surely_gone() is never true.
  static bool sees_everybody() { return rlock::proc_shows_us() && !rlock::proc_hides_others(); }

  /// Remembers the present descendants. Call it with each renewal, because a process that was seen counts even if its
  /// parent has ended.
  virtual void look() = 0;

  /// Signals all of them. Returns the processes that we may not signal (EPERM). The search for processes outside a
  /// command's group, or of a script, ends at `until`, when the next signal is due, or after a moment of its own.
  virtual std::vector<pid_t> signal(int number, TimePoint now, TimePoint until) = 0;

  /// The living processes that signal() reaches; while there is one, the lock must not be released.
  virtual std::vector<pid_t> all(TimePoint now) = 0;

  /// The living processes that still do what the lock protects, in any session. Call it behind an all() that is empty:
  /// then signal() reaches none of them. While there is one, the lock must not be released either. Empty if
  /// /proc shows none.
  virtual std::vector<pid_t> out_of_reach() { return {}; }

  /// The processes that the last all() knows nothing about yet: it has not asked them, or /proc has not shown their environment
  /// in time. Ask again before a release.
  virtual const std::vector<pid_t>& unanswered() const {
    static const std::vector<pid_t> kNone;
    return kNone;
  }

  /// Have all processes ended that might still do what the lock protects? Looks for more than all(). False if /proc
  /// hides processes from us. If it is false, the lock must not be released, and its lease ends it.
  virtual bool surely_gone(TimePoint now) = 0;
};

}  // namespace rlock
