#pragma once

#include <string_view>

namespace rlock {

/// Writes to stdout, all of it. Throws Error{system} when that cannot be done: data that nobody got must not look like success.
/// A reader that has gone away is such an error: SIGPIPE is ignored since the start.
void print(std::string_view text);

/// print(), with a newline behind it, in one write.
void print_line(std::string_view line);

/// Writes to stderr as it is. When that fails there is nobody left to tell.
void print_on_stderr(std::string_view text) noexcept;

}  // namespace rlock
