#pragma once

#include <sys/types.h>

#include "base/descriptor.h"
#include "loop/loop.h"
#include "loop/source.h"

namespace rlock {

/// Wakes the loop once: when a process ends, whether or not it is our child, or after half a second. It does not wait
/// longer, because the process may leave the family that has to end, and live on. Without a pidfd it waits 50 ms.
class ExitWatch final : public Source {
 public:
  ExitWatch(Loop& loop, pid_t pid);

  /// The process has ended, or it is time to check.
  bool over() const noexcept { return over_; }

  int fd() const override { return over_ ? -1 : pidfd_.number(); }
  TimePoint wake_at() const override { return wake_at_; }
  void ready(short events, TimePoint now) override;

 private:
  Descriptor pidfd_;  ///< empty: the kernel gave none
  TimePoint wake_at_ = kNever;
  bool over_ = false;
  Membership membership_;
};

}  // namespace rlock
