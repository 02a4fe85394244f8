#include "sync/wait/pacing.h"

#include <algorithm>

namespace rlock {
namespace {

/// Of the sleep between two polls, so that waiters which began together do not poll together.
constexpr int kPollJitterPart = 10;

/// A TTL counts whole milliseconds; asking in the one in which it ends would be too early.
constexpr Milliseconds kPastTtl{2};

/// Between two rounds over several nodes that split their votes or were too few: random, or contenders would
/// split them again; doubling, because there may be many of them.
constexpr Milliseconds kLeastSplitPause{10};
constexpr Milliseconds kMostSplitPause{500};

/// After a round in which the server failed.
constexpr Milliseconds kFailurePause{50};

/// Messages are ignored for this many times the first split pause: they tell that others have split, too.
constexpr int kIgnoredPauses = 8;

/// After a message of one of several nodes: the others send theirs, and every waiter has received it.
constexpr Milliseconds kHerdPause{10};

constexpr int kWakeupsAtOnce = 100;
constexpr Milliseconds kWakeupInterval{40};

}  // namespace

Pacing::Sleep Pacing::after(const LastRound& round, TimePoint now) {
  if (!round.several_nodes || !(round.split || round.failed)) {
    split_pause_ = Milliseconds{0};
    // After a failure the wakeup may be our own undo, and we would take and undo the lock again at once.
    return {.ignore_wakeups_until = now,
            .until = plus(now, nap(round)),
            .wakeups_end_it = !round.failed,
            .extra = round.several_nodes ? jitter_(kHerdPause) : Milliseconds{0}};
  }
  // About what a round takes: in less time no other contender can have finished its round.
  const Milliseconds least =
      round.failed ? kFailurePause : std::clamp(round.took, kLeastSplitPause, kMostSplitPause);
  split_pause_ = std::max(std::min(split_pause_ * 2, kMostSplitPause), least);
  const TimePoint until = plus(now, split_pause_ / 2 + jitter_(split_pause_));
  return {.ignore_wakeups_until = earliest(until, plus(now, least * kIgnoredPauses)),
          .until = until,
          .wakeups_end_it = !round.failed};
}

TimePoint Pacing::ask_after_wakeup() const { return spent_until_ - kWakeupsAtOnce * kWakeupInterval; }

void Pacing::count_wakeup(TimePoint now) { spent_until_ = std::max(spent_until_, now) + kWakeupInterval; }

/// From `least` to `most`, doubling, each with jitter; equal bounds are a constant pause.
Milliseconds Pacing::pause(const Waitable::Pause& bounds) {
  const auto [least, most] = bounds;
  pause_ = pause_ == Milliseconds{0} ? least : std::min(pause_ * 2, most);
  return least == most ? pause_ : pause_ / 2 + jitter_(pause_);
}

Milliseconds Pacing::nap(const LastRound& round) {
  Milliseconds nap =
      round.announced ? round.poll_every + jitter_(round.poll_every / kPollJitterPart) : pause(round.pause);
  if (round.busy == nullptr) nap = std::min(nap, kFailurePause + jitter_(kFailurePause));
  if (round.busy != nullptr && round.busy->retry_after)
    nap = std::min(nap, *round.busy->retry_after + kPastTtl);
  return nap;
}

}  // namespace rlock
