#pragma once

#include <sys/types.h>

#include "loop/loop.h"
#include "loop/source.h"

namespace rlock {

/// Ends a turn of the loop when some process ends, child of ours or not; and now and then, since it may have become somebody
/// whom nobody waits for (it has left the group), or the kernel cannot tell (no pidfd).
class Ending final : public Source {
 public:
  Ending(Loop& loop, pid_t pid);
  ~Ending() override;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  /// It has ended, or it is time to look.
  bool over() const noexcept { return over_; }

  int fd() const override { return over_ ? -1 : pidfd_; }
  short interest() const override;
  TimePoint wake_at() const override { return wake_at_; }
  void ready(short events, TimePoint now) override;

 private:
  Loop& loop_;
  int pidfd_;
  TimePoint wake_at_ = kNever;
  bool over_ = false;
};

}  // namespace rlock
