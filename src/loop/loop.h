#pragma once

#include <vector>

#include "base/descriptor.h"
#include "base/time.h"
#include "loop/source.h"

namespace rlock {

/// One poll() over its sources, and the clock for code that waits. Commands call turn(), and then look at the
/// results. A test has a loop with a clock of its own: see tests/support/ticking_loop.h.
///
/// poll() gets no timeout. The next wake-up is a CLOCK_BOOTTIME timerfd, so the time in which the machine sleeps
/// counts, too.
class Loop {
 public:
  Loop();
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  virtual TimePoint now() const noexcept { return Clock::now(); }

  /// Waits until a source is ready, a wake_at() is due, or `until`. Then it calls ready() of the sources
  /// concerned. If `until` has passed, it does not wait, but still calls the ready sources. Sources with a
  /// descriptor come first, because they read; the others come second, because they use what was read.
  virtual void turn(TimePoint until);

  /// Turns until `done()` is true or the patience ends.
  template <class Done>
  void wait(const Patience& patience, const Done& done) {
    while (!done() && !patience.ended(now())) turn(patience.until);
  }

  /// A patience that lasts this long from now, and is not interrupted.
  Patience within(Milliseconds duration) const { return {.until = plus(now(), duration)}; }

  /// Call it in a process that was forked with this loop. Otherwise both processes would set the same timer.
  void take_own_timer();

 protected:
  /// The sources as they are now, for one turn. A source that leaves during the turn becomes null there.
  std::vector<Source*>& begin_turn();

 private:
  friend class Membership;
  void arm(TimePoint at);

  std::vector<Source*> sources_;
  std::vector<Source*> turn_;  ///< those of the current turn
  Descriptor timer_;
  TimePoint armed_ = kNever;
};

/// A source joins the loop for as long as this object exists, which may begin and end during a turn. As the last member
/// of the source, it ends before the others.
class Membership {
 public:
  Membership(Loop& loop, Source& source);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  Loop& loop_;
  Source& source_;
};

}  // namespace rlock
