#include "cmd/ask/refusal.h"

#include "base/log.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/cli/exit_code.h"

namespace rlock {

int exit_without(const GaveUp& gave_up, const Session& session, WaitLines& lines, const WaitOptions& wait,
                 std::string_view busy) {
  if (const auto signal = session.signals.ended()) {
    lines.interrupted(*signal, gave_up);
    throw EndedBySignal{*signal};
  }
  if (gave_up.why == GaveUp::Why::busy) {
    if (busy.empty()) {
      lines.give_up(gave_up);
    } else {
      tell(busy);
    }
    return static_cast<int>(wait.conflict_exit_code);
  }
  if (gave_up.refused) {
    complain(gave_up.refused->text);
    return gave_up.refused->why == Refused::Why::absent ? exit_code::no : exit_code::wrong_type;
  }
  const Failure failure = gave_up.failure.value_or(Failure{Error::unreachable, "no answer"});
  complain(session.describe(failure, lines.last_known(gave_up)));
  return exit_code::of(failure.kind);
}

}  // namespace rlock
