#pragma once

#include <vector>

#include "base/time.h"
#include "loop/source.h"

namespace rlock {

/// One poll() over the sources that joined it, and the clock of everything that waits by it. Commands call turn(),
/// and then look at facts. A test has a loop whose time it says itself: see tests/support/ticking_loop.h.
///
/// poll() itself has no timeout: the next wake-up is a CLOCK_BOOTTIME timerfd in the set, so time that the
/// machine slept counts.
class Loop {
 public:
  Loop();
  virtual ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// The source must leave before it ends. Both may be called from within a turn.
  void join(Source& source);
  void leave(Source& source) noexcept;

  virtual TimePoint now() const noexcept { return Clock::now(); }

  /// Waits until a source is ready, a source's wake_at()
  /// has come, or `until`; tells those concerned; returns.
  /// Returns at once, having told those that are ready, when `until` has passed.
  /// Sources with a descriptor are told first, since they read; then those that derive facts from what was read.
  virtual void turn(TimePoint until);

  /// Turns until `done()`, or until the patience ends.
  template <class Done>
  void wait(const Patience& patience, const Done& done) {
    while (!done() && !patience.ended(now())) turn(patience.until);
  }

  /// A patience that ends so much from now, and that nothing cuts short.
  Patience within(Milliseconds duration) const { return {.until = plus(now(), duration)}; }

  /// In a process that was forked with this loop: until then, both processes set the same timer.
  void take_own_timer();

 protected:
  const std::vector<Source*>& sources() const noexcept { return sources_; }
  bool has(const Source* source) const noexcept;

 private:
  void arm(TimePoint at);

  std::vector<Source*> sources_;
  int timer_ = -1;
  TimePoint armed_ = kNever;
};

}  // namespace rlock
