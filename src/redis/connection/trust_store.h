#pragma once

#include <string>

namespace rlock {

/// The file with this machine's trusted certificates; "" if none is found where distributions keep it. Needed only if
/// OpenSSL is linked in, because the system's OpenSSL knows its own file.
std::string trust_store();

}  // namespace rlock
