#pragma once

#include <array>
#include <string>

#include "base/error.h"

namespace rlock {

/// The variables with a password, the more important first.
constexpr std::array<const char*, 3> kPasswordVariables{"RLOCK_PASSWORD", "VALKEYCLI_AUTH", "REDISCLI_AUTH"};

/// Hides the passwords of the command line and of the environment in all texts, whether used or not (see
/// base/redaction.h). Overwrites those in argv in place, because /proc/PID/cmdline and ps read these bytes.
void keep_passwords(int argc, char** argv);

/// Asks for a password on the controlling terminal, without echo. Throws Error{kind} if there is no terminal, and
/// Error{usage} if nothing was typed. `option` names the setting that asks for it.
std::string ask_password(const std::string& option, Error::Kind kind);

}  // namespace rlock
