#include <doctest/doctest.h>

#include "support/cli.h"
#include "support/redis_server.h"

using namespace rlock::test;

// Runs the program `last_heartbeat` only a few times. Its figures need about 50 runs.
TEST_CASE("with any process killed, stopped or frozen, the command is dead before its key ends") {
  Process figures{{program("last_heartbeat"), "2"}};

  const int status = figures.exit_code(std::chrono::seconds{240});

  INFO(figures.out());
  CHECK(status == 0);
}
