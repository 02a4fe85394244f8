#pragma once

#include <optional>
#include <string>

namespace rlock {

/// The value of an environment variable. An empty variable counts as unset.
std::optional<std::string> environment_variable(const char* name);

/// HOME, or the folder of the effective user in the password database. Empty if neither is an absolute path: a relative
/// one would depend on the working directory.
std::string home_folder();

}  // namespace rlock
