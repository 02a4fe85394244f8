#pragma once

#include <string_view>

#include "cmd/ask/wait_lines.h"
#include "cmd/server/session.h"

namespace rlock {

/// Prints why a wait failed and returns the exit status. `busy`: the text if the lock is busy; if empty,
/// the wait lines name the holder.
///
/// Throws EndedBySignal if a signal ended the wait.
[[nodiscard]] int exit_without(const GaveUp& gave_up, const Session& session, WaitLines& lines,
                               const WaitOptions& wait, std::string_view busy = {});

}  // namespace rlock
