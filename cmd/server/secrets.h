#pragma once

#include <string>

namespace rlock {

/// Keeps the passwords that stand in the command line and in the environment,
/// used or not, out of every text (see base/redaction.h), and overwrites
/// those in argv, in place: /proc/PID/cmdline and ps read these very bytes.
void keep_passwords(int argc, char** argv);

/// Asks on the controlling terminal, without echo. Throws
/// Error{usage} where there is no terminal or nothing was typed.
std::string ask_password();

}  // namespace rlock
