// The steps: calm → signalled (the stop signal was sent) → woken (CONT was sent) → killing (KILL, every 100 ms).
// next() takes one step when it is due. It gets the deadlines each time, because each renewal moves them. If
// no signal has been sent yet, a renewal postpones everything.

#include "family/escalation.h"

namespace rlock {

std::optional<int> Escalation::next(TimePoint now, const Deadlines& deadlines) {
  if (now < wake_at(deadlines)) return std::nullopt;
  if (hurried_ || step_ == Step::killing || now >= deadlines.kill) {
    // It is too late for any other signal. CONT does not come first, because a stopped command must not run beside
    // the next holder.
    step_ = Step::killing;
    killed_ = now;
    return SIGKILL;
  }
  if (step_ == Step::calm) {
    step_ = Step::signalled;
    return signal_;
  }
  // A stopped command gets the stop signal only after CONT.
  step_ = Step::woken;
  return SIGCONT;
}

TimePoint Escalation::wake_at(const Deadlines& deadlines) const {
  if (step_ == Step::killing) return plus(killed_, kKillAgain);
  if (hurried_ || step_ == Step::signalled) return TimePoint::min();
  return step_ == Step::woken ? deadlines.kill : earliest(deadlines.stop, deadlines.kill);
}

void Escalation::skip_stop() noexcept {
  if (step_ == Step::calm) step_ = Step::woken;
}

}  // namespace rlock
