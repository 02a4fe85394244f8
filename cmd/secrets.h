#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// Overwrites the passwords of all URLs in argv, in place: /proc/PID/cmdline and ps read these very bytes.
void hide_passwords(int argc, char** argv) noexcept;

/// Asks on the controlling terminal, without echo. Throws Error{usage} where there is no terminal or nothing was typed.
std::string ask_password();

}  // namespace rlock
