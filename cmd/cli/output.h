#pragma once

#include <string_view>

#include "base/time.h"

namespace rlock {

/// Writes all of `text` to stdout. Throws Error{system} if that fails, because lost output must not look like
/// success. A reader that is gone is such a failure, because SIGPIPE is ignored. If the reader does not read,
/// print() waits; a signal such as SIGTERM then ends this process.
void print(std::string_view text);

/// Like print(), for a caller that must undo something if the output fails. `patience` is for a reader that does not
/// read. Returns 0 or the errno, as write_all() does.
[[nodiscard]] int try_print(std::string_view text, const Patience& patience) noexcept;

/// The patience of print() for output to `fd`: a signal such as SIGTERM ends this process.
Patience until_killed(int fd);

/// Throws Error{system} after try_print() has failed. `undone`: what was undone for that reason, for example
/// "; the permits were released".
[[noreturn]] void refuse_output(int error, std::string_view undone = {});

/// print() with a newline at the end. If both together have at most PIPE_BUF bytes, they are one write.
void print_line(std::string_view line);

/// Writes the text to stderr unchanged, with the patience of print(). If that fails, there is no place to report it.
void print_on_stderr(std::string_view text) noexcept;

}  // namespace rlock
