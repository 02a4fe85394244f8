#pragma once

#include "cmd/server/verb.h"

namespace rlock {

VerbRows run_verbs();
VerbRows flock_verbs();

}  // namespace rlock
