#pragma once

#include <string_view>

#include "cmd/ask/wait_lines.h"
#include "cmd/server/session.h"

namespace rlock {

/// Says why a wait ended in vain, and answers the exit status that says it to a script. `busy`: what to say
/// where somebody else has it; empty: who that is, as the wait lines have said it.
///
/// Throws EndedBySignal if a signal ended the wait.
[[nodiscard]] int exit_without(const GaveUp& gave_up, const Session& session, WaitLines& lines,
                               const WaitOptions& wait, std::string_view busy = {});

}  // namespace rlock
