#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// Asks a person, on the controlling terminal whatever stdin
/// and stdout are, and answers the line that is typed.
/// A signal that would end us ends us; the terminal is as it was before.
/// Throws Error{usage} with `nobody` where there is no terminal.
std::string ask_on_terminal(std::string_view question, const std::string& nobody);

/// The same without showing what is typed.
std::string ask_secretly(std::string_view question, const std::string& nobody);

}  // namespace rlock
