#pragma once

#include "base/time.h"

namespace rlock {

/// Says from when on the votes on a question are enough: when some nodes have decided it, the slower ones get a while
/// longer. The caller says whether it is decided: most ask a Tally or answered_by(). It has no I/O and no clock.
class Enough {
 public:
  /// The slower nodes get `grace`. `begun`: they also get as much time again as the call has taken since then; kNever:
  /// they do not.
  explicit Enough(Milliseconds grace, TimePoint begun = kNever) : grace_(grace), begun_(begun) {}

  /// The time from which the votes are enough; kNever: it is not decided. The first call with `decided` fixes it.
  TimePoint from(bool decided, TimePoint now) {
    if (decided && from_ == kNever) from_ = plus(now, elapsed(begun_, now) + grace_);
    return from_;
  }

 private:
  Milliseconds grace_;
  TimePoint begun_;
  TimePoint from_ = kNever;
};

/// The slower nodes get as much time again as the call has taken, and at least 5 ms.
inline Enough equal_grace(TimePoint begun) { return Enough{Milliseconds{5}, begun}; }

}  // namespace rlock
