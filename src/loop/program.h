#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rlock {

/// Where a command was found, or why it cannot be run.
struct Found {
  std::string path;  ///< to execute; empty when there is none
  int error = 0;     ///< ENOENT: not found; EACCES: found, but nothing that may be executed
};

/// Looks `command` up in `folders` ("/usr/bin:/bin", an
/// empty one is the working directory), as execvp(3) would.
/// A command with a slash is not looked at: exec will say.
Found find_program(const std::string& command, std::string_view folders);

/// Is it a file that we may execute?
bool is_program(const std::string& path);

/// The PATH of our environment; where the C library looks when there is none.
std::string_view program_folders();

}  // namespace rlock
