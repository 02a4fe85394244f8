#pragma once

#include <memory>

#include "cmd/verb.h"

namespace rlock {

// One per file of cmd/; the table in cmd/verbs.cpp gives each its name.
std::unique_ptr<Verb> run_verb();

}  // namespace rlock
