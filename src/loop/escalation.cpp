// calm → told (the stop signal was sent) → woken (CONT was sent) → killing (KILL, again every 100 ms). next()
// takes one step when its time has come. The deadlines are given anew each time, since every renewal moves
// them: as long as nothing has been sent, a renewal takes all of it back.

#include "loop/escalation.h"

namespace rlock {

std::optional<int> Escalation::next(TimePoint now, const Deadlines& deadlines) {
  if (now < wake_at(deadlines)) return std::nullopt;
  if (hurried_ || stage_ == Stage::killing || now >= deadlines.kill) {
    // Too late for anything else. No CONT before it: a stopped command must not run on beside the next
    // holder.
    stage_ = Stage::killing;
    killed_ = now;
    return SIGKILL;
  }
  if (stage_ == Stage::calm) {
    stage_ = Stage::told;
    return signal_;
  }
  // A stopped command would see the stop signal only after it is continued.
  stage_ = Stage::woken;
  return SIGCONT;
}

TimePoint Escalation::wake_at(const Deadlines& deadlines) const {
  if (stage_ == Stage::killing) return plus(killed_, kKillAgain);
  if (hurried_ || stage_ == Stage::told) return TimePoint::min();
  return stage_ == Stage::woken ? deadlines.kill : earliest(deadlines.stop, deadlines.kill);
}

void Escalation::skip_stop() noexcept {
  if (stage_ == Stage::calm) stage_ = Stage::woken;
}

}  // namespace rlock
