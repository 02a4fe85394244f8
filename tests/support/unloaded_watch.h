#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "support/eventually.h"

namespace rlock::test {

/// A StopWatch for promises that hold on a machine with a free processor. It leaves out the time in which one
/// of the `processes` was ready to run but had no processor. Without load it equals a StopWatch.
///
/// REQUIRES: each process has one thread, and is not reaped before the last elapsed(). Do not name a process
/// that polls: each of its polls would leave out time of the others.
class UnloadedWatch {
 public:
  explicit UnloadedWatch(std::vector<pid_t> processes);

  std::chrono::milliseconds elapsed() const;

  /// Waits until `process`, a child of ours, has ended, and returns elapsed() at that time.
  std::chrono::milliseconds until_end_of(pid_t process, std::chrono::milliseconds deadline) const;

 private:
  std::chrono::nanoseconds waited() const;

  std::vector<pid_t> processes_;
  std::chrono::nanoseconds waited_before_;
  StopWatch watch_{};
};

}  // namespace rlock::test
