#include "support/scenes.h"

#include <doctest/doctest.h>

#include "support/cli.h"
#include "support/redis_server.h"

using namespace rlock::test;

// `supervision_table` shows the same as a table.
TEST_CASE("a person at a terminal does not notice rlock") {
  RedisServer redis;
  for (const TerminalScene& scene : terminal_scenes()) {
    CAPTURE(scene.title);
    CHECK(play(scene, rlock_binary() + " run -k scene-$$-$RANDOM --", redis.environment()) ==
          play(scene, "", redis.environment()));
  }
}
