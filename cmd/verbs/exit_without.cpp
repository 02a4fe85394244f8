#include "cmd/verbs/exit_without.h"

#include "base/log.h"
#include "cmd/ask/last_word.h"
#include "cmd/cli/exit_code.h"

namespace rlock {

int exit_without(const GaveUp& gave_up, WaitLines& lines, std::string_view deadlock) {
  if (const auto signal = lines.session().signals.ended()) {
    LastWord{lines, gave_up}.interrupted(*signal);
    throw EndedBySignal{*signal};
  }
  if (gave_up.why == GaveUp::Why::interrupted && !deadlock.empty()) {
    warn(deadlock);
    return lines.wait().conflict_exit_code;
  }
  const int exit = LastWord{lines, gave_up}.not_held();
  return gave_up.refused && gave_up.refused->why == Refused::Why::absent ? exit_code::no : exit;
}

}  // namespace rlock
