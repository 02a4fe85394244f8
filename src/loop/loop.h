#pragma once

#include <vector>

#include "base/time.h"
#include "loop/source.h"

namespace rlock {

/// One poll() over the sources that joined it. Commands call turn(), and then look at facts.
///
/// poll() itself has no timeout: the next wake-up is a CLOCK_BOOTTIME timerfd in the set, so time that the
/// machine slept counts.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// The source must leave before it ends. Both may be called from within a turn.
  void join(Source& source);
  void leave(Source& source) noexcept;

  /// Waits until a source is ready, a source's wake_at()
  /// has come, or `until`; tells those concerned; returns.
  /// Returns at once, having told whoever is ready, when `until` has passed.
  void turn(TimePoint until);

 private:
  void arm(TimePoint at);

  std::vector<Source*> sources_;
  int timer_ = -1;
  TimePoint armed_ = kNever;
};

}  // namespace rlock
