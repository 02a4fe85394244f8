#pragma once

#include <algorithm>
#include <vector>

#include "loop/loop.h"

namespace rlock::test {

/// A loop with a clock of its own, which only turn() and tick() move. A turn jumps to the time until which it would
/// have waited. So a wait of an hour takes microseconds, and the same number of turns on any machine. It polls no
/// descriptor.
class TickingLoop final : public Loop {
 public:
  TimePoint now() const noexcept override { return now_; }

  /// Moves the clock without a turn, as if the process was stopped.
  void tick(Milliseconds duration) { now_ = plus(now_, duration); }

  void turn(TimePoint until) override {
    TimePoint at = until;
    const std::vector<Source*>& present = begin_turn();
    for (const Source* source : present) at = earliest(at, source->wake_at());
    now_ = std::max(now_, at);
    for (std::size_t i = 0; i < present.size(); ++i)
      if (present[i] != nullptr && present[i]->wake_at() <= now_) present[i]->ready(0, now_);
  }

 private:
  TimePoint now_ = Clock::now();
};

}  // namespace rlock::test
