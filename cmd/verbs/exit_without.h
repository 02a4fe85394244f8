#pragma once

#include <string_view>

#include "cmd/ask/wait_lines.h"

namespace rlock {

/// Prints why a wait failed and returns the exit status. `deadlock`: why the wait would never have ended; empty: it
/// could have.
///
/// Throws EndedBySignal if a signal ended the wait.
[[nodiscard]] int exit_without(const GaveUp& gave_up, WaitLines& lines, std::string_view deadlock = {});

}  // namespace rlock
