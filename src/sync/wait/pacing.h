#pragma once

#include <functional>

#include "base/time.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// When a wait asks again. Pure: it knows no clock and no socket; what is random comes from `jitter`.
class Pacing {
 public:
  /// `jitter(span)`: a random duration in [0, span].
  explicit Pacing(std::function<Milliseconds(Milliseconds)> jitter) : jitter_(std::move(jitter)) {}

  /// What the last round of asking came to.
  struct LastRound {
    bool several_nodes = false;  ///< nodes
    bool split = false;          ///< several nodes: some granted it, and no other owner has a quorum
    bool failed = false;         ///< too many nodes did not answer, or it was granted but is of no use
    const Busy* busy = nullptr;  ///< somebody else has it
    Milliseconds took{0};        ///< the round
    bool announced = false;      ///< messages can wake us
    Milliseconds poll_every{0};  ///< Waitable::poll_every()
    Waitable::Pause pause{};     ///< Waitable::pause()
  };

  struct Sleep {
    TimePoint ignore_wakeups_until;  ///< messages before this come from others who pause like us
    TimePoint until;                 ///< the latest time to ask again
    bool wakeups_end_it = true;      ///< a message, or a confirmed subscription, ends it
    Milliseconds extra{0};  ///< and then so long more: several nodes announce a release one after the other
  };

  Sleep after(const LastRound& round, TimePoint now);

  /// A wakeup came: when to ask. In the past: now. Anybody may publish messages, and an acquire costs the
  /// server more than a message does, so there is a limit: a hundred at once, then 25 a second.
  TimePoint ask_after_wakeup() const;
  void count_wakeup(TimePoint now);

 private:
  Milliseconds pause(const Waitable::Pause& bounds);
  Milliseconds nap(const LastRound& round);

  std::function<Milliseconds(Milliseconds)> jitter_;
  Milliseconds pause_{0};        ///< the last one where nothing wakes us
  Milliseconds split_pause_{0};  ///< the last one after a split; 0: the last round was none
  TimePoint spent_until_{};      ///< what wakeups have cost, as time
};

}  // namespace rlock
