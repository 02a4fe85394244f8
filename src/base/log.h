#pragma once

#include <string_view>

#include "base/time.h"

namespace rlock {

/// How much stderr gets. `quiet`: errors only; `verbose`: inner events too.
enum class Verbosity { quiet, normal, verbose };

/// Set once, by the parser of the command line.
void set_verbosity(Verbosity verbosity) noexcept;
Verbosity verbosity() noexcept;

/// When the process began, for debug(). Set once, by main.
void set_log_start(TimePoint started) noexcept;

/// Each writes one line "rlock: <text>\n" to stderr. It never blocks for ever, and never raises SIGPIPE.
/// warn() always writes, info() unless quiet, debug() only if verbose. The text is for people. Foreign
/// parts of it must have passed sanitized() or in_quotes(). Passwords are hidden in any text (see
/// redacted_line()). debug() adds the age of the process: "rlock: +1.204s acquired 'deploy'".
void warn(std::string_view text) noexcept;
void info(std::string_view text) noexcept;
void debug(std::string_view text) noexcept;

}  // namespace rlock
