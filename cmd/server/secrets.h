#pragma once

#include <array>
#include <string>

namespace rlock {

/// The variables with a password, the more important first.
constexpr std::array<const char*, 3> kPasswordVariables{"RLOCK_PASSWORD", "VALKEYCLI_AUTH", "REDISCLI_AUTH"};

/// Hides the passwords of the command line and of the environment in all texts, whether used or not (see
/// base/redaction.h). Overwrites those in argv in place, because /proc/PID/cmdline and ps read these bytes.
void keep_passwords(int argc, char** argv);

/// Asks for a password on the controlling terminal, without echo. Throws Error{usage} if there is no
/// terminal, or nothing was typed.
std::string ask_password();

}  // namespace rlock
