#include "cmd/view/refusal.h"

#include "base/log.h"
#include "cmd/cli/exit_code.h"
#include "cmd/view/wait_lines.h"

namespace rlock {

int say_refusal(const GaveUp& gave_up, std::string_view why, const Session& session, int busy) {
  if (gave_up.why == GaveUp::Why::busy) {
    tell(why);
    return busy;
  }
  if (gave_up.refused) {
    complain(gave_up.refused->text);
    return gave_up.refused->why == Refused::Why::absent ? exit_code::no : exit_code::wrong_type;
  }
  const Failure failure = gave_up.failure.value_or(Failure{Error::unreachable, "no answer"});
  complain(session.describe(failure));
  return exit_code::of(failure.kind);
}

void die_if_interrupted(const Session& session, WaitLines& lines, const GaveUp& gave_up) {
  if (!session.signals.ended()) return;
  lines.interrupted(*session.signals.ended(), gave_up);
  die_of(*session.signals.ended());
}

}  // namespace rlock
