#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// Remembers where an option that the user did not type got its value. `text`: the setting as it stands in
/// the environment or a file, "RLOCK_LEASE=5s"; empty: nothing sets it. `option`: the long name, without
/// dashes.
void remember_default(std::string_view option, std::string text);

/// The option as a message shows it: the text that was remembered for it, else `typed` ("--lease 5s").
std::string as_given(std::string_view option, std::string_view typed);

}  // namespace rlock
