#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "support/eventually.h"

namespace rlock::test {

/// A StopWatch for what processes promise on a machine that has a processor to spare: it leaves out the time
/// in which one of them was ready to run and had no processor. Without load it shows the same.
///
/// REQUIRES: they have one thread each, and are not reaped before the last elapsed(). One that looks at
/// something again and again is not named: each of its looks would leave out time of the others.
class UnloadedWatch {
 public:
  explicit UnloadedWatch(std::vector<pid_t> processes);

  std::chrono::milliseconds elapsed() const;

  /// Waits until `process`, a child of ours, has ended, and answers elapsed() then.
  std::chrono::milliseconds until_end_of(pid_t process, std::chrono::milliseconds deadline) const;

 private:
  std::chrono::nanoseconds waited() const;

  std::vector<pid_t> processes_;
  std::chrono::nanoseconds waited_before_;
  StopWatch watch_{};
};

}  // namespace rlock::test
