#include "cmd/verbs/exit_without.h"

#include "base/log.h"
#include "cmd/cli/exit_code.h"

namespace rlock {

int exit_without(const GaveUp& gave_up, WaitLines& lines, std::string_view deadlock) {
  if (const auto signal = lines.session().signals.ended()) {
    lines.interrupted(*signal, gave_up);
    throw EndedBySignal{*signal};
  }
  if (gave_up.why == GaveUp::Why::interrupted && !deadlock.empty()) {
    warn(deadlock);
    return lines.wait().conflict_exit_code;
  }
  if (gave_up.why == GaveUp::Why::busy) {
    lines.give_up(gave_up);
    return lines.wait().conflict_exit_code;
  }
  if (gave_up.refused) {
    warn(gave_up.refused->text);
    return gave_up.refused->why == Refused::Why::absent ? exit_code::no : exit_code::wrong_type;
  }
  const Failure failure = gave_up.failure.value_or(no_answer());
  warn(lines.session().describe(failure, lines.last_known(gave_up)));
  return exit_code::of(failure.kind);
}

}  // namespace rlock
