#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rlock {

/// Why a command cannot run, and the exit status for it (126 or 127).
struct [[nodiscard]] CannotRun {
  int exit_code;
  std::string text;
};

/// The path found in PATH, or the reason why the command cannot run. Both are empty if the name contains a slash and
/// is not a directory, because exec will report any error of it.
struct [[nodiscard]] CommandLookup {
  std::string found;
  std::optional<CannotRun> problem;
};

/// Looks up a command like execvp(3), so that a typing mistake is found before anything is locked. `words`:
/// the command and its arguments.
CommandLookup look_up(const std::vector<std::string>& words);

/// The end of a message about a missing command. If the command is one word that looks like a shell command
/// line, the end suggests -c. Otherwise it is empty.
std::string if_it_is_for_a_shell(const std::vector<std::string>& command);

}  // namespace rlock
