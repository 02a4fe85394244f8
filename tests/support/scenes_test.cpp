#include "support/scenes.h"

#include <doctest/doctest.h>

#include "support/cli.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// Shells have races of their own; what hangs without rlock is no measure.
std::string reference(const TerminalScene& scene, const Process::Options& options) {
  std::string outcome = play(scene, "", options);
  for (int again = 0; again < 3 && outcome.starts_with("hangs"); ++again) outcome = play(scene, "", options);
  return outcome;
}

}  // namespace

// `supervision_table` shows the same as a table.
TEST_CASE("a person at a terminal does not notice rlock") {
  RedisServer redis;
  for (const TerminalScene& scene : terminal_scenes()) {
    CAPTURE(scene.title);
    CHECK(play(scene, rlock_binary() + " run -k scene-$$-$RANDOM --", redis.environment()) ==
          reference(scene, redis.environment()));
  }
}
