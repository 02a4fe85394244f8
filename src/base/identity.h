#pragma once

#include <string>

namespace rlock {

/// The user and the host of this process, for people who look for the holder of a lock. The user is LOGNAME or USER if
/// one is set, else the effective user. Both are looked up once, and "?" if unknown.
const std::string& user_name();
const std::string& host_name();

/// User and host, for messages to others: "alice@ops".
std::string user_at_host();

/// The name of this process in CLIENT LIST: "rlock:<user>@<host>:<pid>". CLIENT SETNAME demands printable
/// ASCII without blanks, so other characters become '_'.
std::string client_name();

}  // namespace rlock
