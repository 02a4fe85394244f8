#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rlock {

/// Why a command cannot run, and the exit status that says so (126 or 127).
struct CannotRun {
  int exit_code;
  std::string text;
};

/// Looks a command without a slash up in PATH, as execvp(3) would,
/// so that a typing mistake is told before anything is locked.
/// Nothing: it can be tried. A command with a slash is not
/// looked at: exec will say. `words`: with its arguments.
std::optional<CannotRun> look_up(const std::vector<std::string>& words);

/// The end of a message about a command that is not there: a line
/// for a shell, typed as one word, is told of -c. Else empty.
std::string if_it_is_for_a_shell(const std::vector<std::string>& command);

}  // namespace rlock
