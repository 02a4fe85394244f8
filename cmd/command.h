#pragma once

#include <optional>
#include <string>

namespace rlock {

/// Why a command cannot run, and the exit status that says so (126 or 127).
struct CannotRun {
  int exit_code;
  std::string text;
};

/// Looks a command without a slash up in PATH, as execvp(3) would, so that a typing mistake is told before anything is locked.
/// Nothing: it can be tried. A command with a slash is not looked at: exec will say.
std::optional<CannotRun> look_up(const std::string& command);

}  // namespace rlock
