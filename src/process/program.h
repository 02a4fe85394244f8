#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// The path of a command, or the reason why it cannot be run.
struct Found {
  std::string path;  ///< the path to execute; empty: there is none
  int error = 0;     ///< ENOENT: not found; EACCES: found, but not executable
};

/// Looks up `command` in `folders` ("/usr/bin:/bin"; an empty one is the working directory), like execvp(3). A
/// command with a slash is not looked up; exec reports its error.
Found find_program(const std::string& command, std::string_view folders);

/// Is it a file that we may execute?
bool is_program(const std::string& path);

/// Our PATH; if it is not set, the folders that the C library searches.
std::string_view program_folders();

/// The words as the array that exec takes. REQUIRES: they outlive it.
std::vector<char*> pointers(const std::vector<std::string>& words);

}  // namespace rlock
