// A table of the output on a terminal, with and without rlock in front of the command.
//
//   supervision_table [WORD]      only the scenes whose title has WORD; exits with 1 if a line differs
#include <iostream>

#include "support/contains.h"
#include "support/redis_server.h"
#include "support/scenes.h"

using namespace rlock::test;

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  RedisServer redis;
  int different = 0;
  std::cout << "| scene | without rlock | with rlock |\n|---|---|---|\n";
  for (const TerminalScene& scene : terminal_scenes()) {
    if (!contains(scene.title, word)) continue;
    const std::string without = play(scene, "", redis.environment());
    // Each run has a key of its own: xargs runs several commands at once.
    const std::string with = play(scene, rlock_binary() + " run -k table-$$-$RANDOM --", redis.environment());
    const bool same = with == without;
    different += same ? 0 : 1;
    std::cout << "| " << scene.title << " | " << without << " | " << (same ? "the same" : with) << " |"
              << std::endl;
  }
  return different == 0 ? 0 : 1;
}
