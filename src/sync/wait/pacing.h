#pragma once

#include <utility>

#include "base/random.h"
#include "base/time.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// Decides when a wait asks again. It has no clock, no socket and, with another `jitter`, no chance.
class Pacing {
 public:
  explicit Pacing(Jitter jitter = rlock::jitter) : jitter_(std::move(jitter)) {}

  /// The result of the last round.
  struct LastRound {
    bool several_nodes = false;
    bool split = false;          ///< several nodes: some granted it, and no other owner has a quorum
    bool failed = false;         ///< too many nodes did not answer, or the grant was of no use
    const Busy* busy = nullptr;  ///< set if another owner has it
    Milliseconds took{0};        ///< how long the call of its last stage took
    bool announced = false;      ///< messages can wake us
    Milliseconds poll_every{0};  ///< Waitable::poll_every()
    Waitable::Pause pause{};     ///< Waitable::pause()
    Milliseconds behind{0};      ///< failed: how long to pause for the waiters before us in the line
  };

  struct Plan {
    /// Until then, messages are ignored: they come from waiters that pause, too.
    TimePoint ignore_wakeups_until;
    TimePoint until;             ///< when to ask again at the latest
    bool wakeups_end_it = true;  ///< a message, or a confirmed subscription, ends the sleep
    /// A further sleep after that, because several nodes announce a release one after the other.
    Milliseconds extra{0};
  };

  Plan after(const LastRound& round, TimePoint now);

  /// When to ask after a wakeup, or to take up a new place; a time in the past means now. Any client may publish
  /// messages, and an acquire costs the server more than a message. So wakeups are limited, and new places count as
  /// wakeups: a hundred at once, then 25 a second.
  TimePoint ask_after_wakeup() const;
  void count_wakeup(TimePoint now);

 private:
  Milliseconds pause(const Waitable::Pause& bounds);
  Milliseconds nap(const LastRound& round);

  Jitter jitter_;
  Milliseconds pause_{0};        ///< the last pause without announcements
  Milliseconds split_pause_{0};  ///< several nodes: the last pause after a split or failure; 0: none
  TimePoint spent_until_{};      ///< the wakeups so far use up the permitted rate until then
};

}  // namespace rlock
