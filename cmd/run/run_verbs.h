#pragma once

#include <memory>

#include "cmd/cli/verb.h"

namespace rlock {

std::unique_ptr<Verb> run_verb();
std::unique_ptr<Verb> flock_verb();

}  // namespace rlock
