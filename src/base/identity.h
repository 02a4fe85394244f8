#pragma once

#include <string>

namespace rlock {

/// Who we are, for people who wonder who holds a lock. Looked up once; never empty ("?" where nobody knows).
const std::string& user_name();
const std::string& host_name();

/// What this process is called in CLIENT LIST: "rlock:<user>@<host>:<pid>", where anything that is not
/// printable ASCII without blanks is replaced by '_', as CLIENT SETNAME demands.
std::string client_name();

}  // namespace rlock
