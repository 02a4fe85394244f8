#pragma once

#include <string_view>

#include "base/time.h"

namespace rlock {

/// How much stderr hears. `quiet`: errors only; `verbose`: also what happens inside.
enum class Verbosity { quiet, normal, verbose };

/// Set once, by the parser of the command line.
void set_verbosity(Verbosity verbosity) noexcept;
Verbosity verbosity() noexcept;

/// When the process began, for mention(). Set once, by main.
void set_log_start(TimePoint started) noexcept;

/// One line "rlock: <text>\n" on stderr in one write, never blocking for ever and never raising SIGPIPE.
/// complain() always speaks, tell() unless quiet, mention() only when verbose. Text is for people:
/// whatever came from outside has passed sanitized() or in_quotes(). No password
/// gets out here, whatever the text is (see redacted_line()).
/// mention() says how long ago the process began: "rlock: +1.204s acquired 'deploy'".
void complain(std::string_view text) noexcept;
void tell(std::string_view text) noexcept;
void mention(std::string_view text) noexcept;

}  // namespace rlock
