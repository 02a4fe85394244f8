#pragma once

#include "support/redis_server.h"

namespace rlock::test {

/// Does the server know HELLO? If it does not (tests/matrix --resp2), it refuses HELLO, but carries out the calls
/// that follow it. rlock then makes a second connection, and sends the same calls again.
inline bool knows_hello(RedisServer& server) { return !server.cli({"HELLO"}).starts_with("(error)"); }

}  // namespace rlock::test
