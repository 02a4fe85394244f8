#pragma once

#include <algorithm>
#include <vector>

#include "support/process.h"

namespace rlock::test {

/// The id of a permit, as users type it.
constexpr const char* kPermitId = "726b3030303030303030303030303031";

/// Command lines of the verbs that ask a server, for tests that try them all. They use the key k, the owner o if
/// one is needed, and no long wait. The first lines only read, and the last ones, from `unlock` on, remove the key.
inline std::vector<Words> verb_lines() {
  return {
      {"inspect", "k"},
      {"inspect"},
      {"list"},
      {"list", "--all"},
      {"metrics"},
      {"history", "k"},
      {"lock", "status", "k"},
      {"permit", "status", "k"},
      {"sem", "status", "k"},
      {"latch", "status", "k"},
      {"doctor"},
      {"scripts", "load"},
      {"run", "-n", "-k", "k", "--", "true"},
      {"flock", "-n", "k", "true"},
      {"lock", "acquire", "-n", "k", "--lease", "1m"},
      {"lock", "wait", "-n", "k"},
      {"lock", "release", "k", "--owner", "o"},
      {"lock", "renew", "k", "--owner", "o"},
      {"permit", "acquire", "-n", "k", "--lease", "1m"},
      {"permit", "release", "k", kPermitId},
      {"permit", "renew", "k", kPermitId},
      {"permit", "init", "k", "5"},
      {"permit", "set", "k", "5"},
      {"permit", "add", "k", "5"},
      {"sem", "init", "k", "5"},
      {"sem", "acquire", "-n", "k"},
      {"sem", "release", "k"},
      {"sem", "add", "k", "5"},
      {"latch", "set", "k", "5"},
      {"latch", "down", "k"},
      {"latch", "wait", "-w", "300ms", "k"},
      {"sem", "drain", "k"},
      {"stop", "-w", "300ms", "k"},
      {"unlock", "--yes", "k"},
      {"permit", "delete", "k"},
      {"sem", "delete", "k"},
      {"latch", "delete", "k"},
  };
}

/// All these lines, with `others` before the lines that remove the key.
inline std::vector<Words> verb_lines_and(const std::vector<Words>& others) {
  std::vector<Words> lines = verb_lines();
  const auto removing =
      std::ranges::find_if(lines, [](const Words& words) { return words.front() == "unlock"; });
  lines.insert(removing, others.begin(), others.end());
  return lines;
}

}  // namespace rlock::test
