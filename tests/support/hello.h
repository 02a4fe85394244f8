#pragma once

#include "support/redis_server.h"

namespace rlock::test {

/// Does it speak RESP3? Others (tests/matrix --resp2) refuse the first connection of each rlock: they carry out what stands
/// behind its HELLO, and are sent the same again on the second connection.
inline bool knows_hello(RedisServer& server) { return !server.cli({"HELLO"}).starts_with("(error)"); }

}  // namespace rlock::test
