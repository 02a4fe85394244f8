#include <doctest/doctest.h>

#include "support/cli.h"
#include "support/redis_server.h"

using namespace rlock::test;

// A few runs of the program `last_heartbeat`, which is made for 50.
TEST_CASE("with any process killed, stopped or frozen, the command is dead before its key ends") {
  Process figures{{program("last_heartbeat"), "2"}};

  const int status = figures.exit_code(std::chrono::seconds{240});

  INFO(figures.out());
  CHECK(status == 0);
}
