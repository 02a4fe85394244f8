#pragma once

#include <string>

namespace rlock {

/// The file in which this machine keeps the authorities that it trusts; "" where it has none in a place that a
/// distribution uses. For an OpenSSL that we bring: the system's own knows where its distribution has put them.
std::string trust_store();

}  // namespace rlock
