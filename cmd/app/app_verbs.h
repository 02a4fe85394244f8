#pragma once

#include "cmd/server/verb.h"

namespace rlock {

// The verbs that need the table of verbs.
VerbRows completion_verbs();
VerbRows complete_verbs();
VerbRows help_verbs();

}  // namespace rlock
