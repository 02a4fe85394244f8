#pragma once

#include <string>

namespace rlock {

/// "rlock 1.0", and with -v a line for each library with its version.
std::string version_text();

}  // namespace rlock
