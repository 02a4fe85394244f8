#pragma once

#include <string>

namespace rlock {

/// Asks a person on the terminal, "Remove the lock 'deploy'? [y/N]", unless `yes` says that the answer is
/// known. Throws Error{usage} where there is neither.
bool confirm(const std::string& question, bool yes);

}  // namespace rlock
