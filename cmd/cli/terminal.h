#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace rlock {

/// Asks the user on the controlling terminal, whatever stdin and stdout are, and returns the typed line. A
/// stroke such as ^C ends rlock after the terminal was restored. If there is no terminal, throws `no_terminal`.
std::string ask_on_terminal(std::string_view question, const Error& no_terminal);

/// Like ask_on_terminal(), but does not show the typed text.
std::string ask_secretly(std::string_view question, const Error& no_terminal);

/// Deletes the last character, as the erase key does. In UTF-8 it may have several bytes.
void erase_last_character(std::string& text, bool utf8 = true);

}  // namespace rlock
