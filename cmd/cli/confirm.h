#pragma once

#include <string>

namespace rlock {

/// Asks the user on the terminal, "Remove the lock 'deploy'? [y/N]", and returns the answer. Throws Error{usage} if
/// there is no terminal.
bool confirm(const std::string& question);

}  // namespace rlock
