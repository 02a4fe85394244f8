#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "world.h"

namespace rlock::model {

/// A violated rule, and a shell script that leads to it.
struct Finding {
  std::string what;
  std::string trace;
};

struct Exploration {
  std::size_t states = 0;  ///< number of different states
  std::size_t steps = 0;
  bool complete = false;            ///< every state was explored
  std::vector<Finding> findings{};  ///< one of each kind; a walk ends with the first
};

/// The limits of an exploration.
struct Effort {
  std::size_t states;
  double seconds;
};

/// Explores everything that can happen, breadth first, so each finding has the shortest trace. It does not
/// continue after a finding.
Exploration explore(const Setting& setting, Interpreter& lua, const Effort& effort);

/// Random walks; the same seed gives the same walks.
Exploration walk(const Setting& setting, Interpreter& lua, const Effort& effort, std::uint64_t seed);

}  // namespace rlock::model
