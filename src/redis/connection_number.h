#pragma once

#include <cstdint>

namespace rlock {

/// Names a connection of this process. Numbers are never reused, so a remembered one finds this connection or none.
enum class ConnectionNumber : std::uint64_t { none };

}  // namespace rlock
