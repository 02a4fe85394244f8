#pragma once

#include "loop/loop.h"
#include "support/eventually.h"

namespace rlock::test {

/// Turns the loop until `fact()` is true, at most `deadline`. Returns whether it became true. It looks every
/// few milliseconds, because a fact of a server on another thread wakes no loop.
template <class Fact>
bool turns(Loop& loop, Fact&& fact, Milliseconds deadline = Milliseconds{5000}) {
  const TimePoint until = plus(Clock::now(), deadline);
  while (!fact()) {
    if (Clock::now() >= until) return false;
    loop.turn(earliest(until, plus(Clock::now(), Milliseconds{2})));
  }
  return true;
}

/// How often the loop wakes up during `span`: a process that waits for nothing should hardly ever wake up.
inline int wake_ups(Loop& loop, Milliseconds span) {
  const TimePoint until = plus(Clock::now(), span);
  int count = 0;
  for (; Clock::now() < until; ++count) loop.turn(until);
  return count;
}

}  // namespace rlock::test
