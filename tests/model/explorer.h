#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "world.h"

namespace rlock::model {

/// What is wrong, and how it comes to that: a script for the shell.
struct Finding {
  std::string what;
  std::string trace;
};

struct Exploration {
  std::size_t states = 0;  ///< different ones
  std::size_t steps = 0;
  bool complete = false;            ///< there is no other state
  std::vector<Finding> findings{};  ///< one of each kind; a walk ends with the first
};

/// How much may be done.
struct Effort {
  std::size_t states;
  double seconds;
};

/// Everything that can happen, breadth first: what is found has the shortest way to it. Where something is wrong it
/// goes no further.
Exploration explore(const Setting& setting, Interpreter& lua, const Effort& effort);

/// Random walks, the same for the same seed.
Exploration walk(const Setting& setting, Interpreter& lua, const Effort& effort, std::uint64_t seed);

}  // namespace rlock::model
