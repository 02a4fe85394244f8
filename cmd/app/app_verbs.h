#pragma once

#include "cmd/server/verb.h"

namespace rlock {

// The verbs that tell of all verbs.
VerbRows completion_verbs();
VerbRows complete_verbs();
VerbRows help_verbs();

}  // namespace rlock
