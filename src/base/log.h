#pragma once

#include <string_view>

#include "base/time.h"

namespace rlock {

/// How much stderr gets. `quiet`: errors and warnings; `verbose`: inner events, too.
enum class Verbosity { quiet, normal, verbose };

/// Set by options, variables and configuration files.
void set_verbosity(Verbosity verbosity) noexcept;
Verbosity verbosity() noexcept;

/// When the process began, for debug(). Set once, by main.
void set_log_start(TimePoint started) noexcept;

/// Each writes one line "rlock: <text>\n" to stderr. warn() always writes, info() unless quiet, debug() only if
/// verbose. debug() adds the age of the process: "rlock: +1.204s acquired 'deploy'". If the reader of stderr does not
/// read, the line is dropped. If the reader is gone, there is no SIGPIPE, because main ignores it. The text is for
/// people. Foreign parts of it must have passed sanitized() or in_quotes(). Passwords are hidden in any text (see
/// redacted_line()).
void warn(std::string_view text) noexcept;
void info(std::string_view text) noexcept;
void debug(std::string_view text) noexcept;

}  // namespace rlock
