#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// Asks the user on the controlling terminal, whatever stdin and stdout are, and returns the typed line.
/// A signal that would end rlock ends it, and the terminal gets its former modes back.
/// If there is no terminal, throws Error{usage} with the text `no_terminal`.
std::string ask_on_terminal(std::string_view question, const std::string& no_terminal);

/// The same without showing what is typed.
std::string ask_secretly(std::string_view question, const std::string& no_terminal);

}  // namespace rlock
