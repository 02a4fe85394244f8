#pragma once

#include <string>
#include <vector>

#include "cmd/server/session.h"

namespace rlock::test {

/// The deployment that a Redis of a test stands for.
inline Deployment servers_of(const Redis& redis) {
  return {.targets = std::vector<Target>(redis.nodes(), parse_target("redis://127.0.0.1:1"))};
}

/// The reply to a step of a scan.
inline Reply scanned(const std::string& cursor, const std::vector<std::string>& keys) {
  std::vector<Reply> items;
  for (const std::string& key : keys) items.emplace_back(key);
  return Reply{std::vector{Reply{cursor}, Reply{std::move(items)}}};
}

/// A lock, and the key beside it that tells its name. Without braces in it, a name could also be written with them.
inline LockName named(int number) { return LockName{"{t}" + std::to_string(number)}; }
inline std::string beside(int number) { return "rlock:meta:" + named(number).str(); }

}  // namespace rlock::test
