#pragma once

#include "support/redis_server.h"

namespace rlock::test {

/// Does the server speak RESP3? Others (tests/matrix --resp2) refuse the first connection of each rlock. They
/// carry out the calls behind its HELLO, and get the same calls again on the second connection.
inline bool knows_hello(RedisServer& server) { return !server.cli({"HELLO"}).starts_with("(error)"); }

}  // namespace rlock::test
