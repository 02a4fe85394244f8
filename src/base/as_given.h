#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// Remembers where an option got its value if the user did not type it. `option`: the long name, without dashes.
/// `text`: the setting as a message names it, such as "RLOCK_LEASE=5s". If it is empty, the option is forgotten.
void remember_default(std::string_view option, std::string text);

/// The option as a message shows it: the text that was remembered for it, else `typed` ("--lease 5s").
std::string as_given(std::string_view option, std::string_view typed);

}  // namespace rlock
