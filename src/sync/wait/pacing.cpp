#include "sync/wait/pacing.h"

#include <algorithm>

namespace rlock {
namespace {

/// The sleep between two polls is longer by a random time, at most a tenth of it. Otherwise waiters that began together
/// would poll together.
constexpr int kPollJitterPart = 10;

/// A TTL counts whole milliseconds: in the millisecond in which it ends, asking would be too early.
constexpr Milliseconds kPastTtl{2};

/// The pause between two rounds over several nodes, after a split or after too few nodes answered. It is
/// random, because waiters would otherwise split again. It doubles, because there may be many of them.
constexpr Milliseconds kLeastSplitPause{10};
constexpr Milliseconds kMostSplitPause{500};

/// The pause after a round in which the server failed.
constexpr Milliseconds kFailurePause{50};

/// After a split, messages are ignored for this many times the least pause, because waiters that undo
/// their grants may send them.
constexpr int kIgnoredPauses = 8;

/// After a message of one of several nodes, a waiter pauses for a random time, at most this long. The other nodes send
/// messages, too, and all waiters get them.
constexpr Milliseconds kHerdPause{10};

constexpr int kWakeupsAtOnce = 100;
constexpr Milliseconds kWakeupInterval{40};

}  // namespace

Pacing::Plan Pacing::after(const LastRound& round, TimePoint now) {
  if (!round.several_nodes || !(round.split || round.failed)) {
    split_pause_ = Milliseconds{0};
    // After a failure our own undo may have sent the wakeup: asking at once would acquire and undo again,
    // without end.
    return {.ignore_wakeups_until = now,
            .until = plus(now, nap(round)),
            .wakeups_end_it = !round.failed,
            .extra = round.several_nodes ? jitter_(kHerdPause) : Milliseconds{0}};
  }
  // The least pause is about as long as a round: no other waiter can finish its round in less.
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

/// Doubles from `least` to `most`, with jitter. If both are equal, the pause is constant.
Milliseconds Pacing::pause(const Waitable::Pause& bounds) {
  const auto [least, most] = bounds;
  pause_ = pause_ == Milliseconds{0} ? least : std::min(pause_ * 2, most);
  return least == most ? pause_ : pause_ / 2 + jitter_(pause_);
}

Milliseconds Pacing::nap(const LastRound& round) {
  Milliseconds nap =
      round.announced ? round.poll_every + jitter_(round.poll_every / kPollJitterPart) : pause(round.pause);
  if (round.busy == nullptr)
    nap = std::min(nap, std::max(kFailurePause + jitter_(kFailurePause), round.behind));
  if (round.busy != nullptr && round.busy->retry_after)
    nap = std::min(nap, *round.busy->retry_after + kPastTtl);
  return nap;
}

}  // namespace rlock
