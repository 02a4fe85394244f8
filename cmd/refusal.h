#pragma once

#include <string_view>

#include "cmd/session.h"

namespace rlock {

/// Says on stderr why a wait ended in vain, and answers the exit status that says it to a script: `busy` where the server said so,
/// with `why` ("'deploy' is held by somebody else").
/// REQUIRES: not interrupted; who was ends as the signal says.
int say_refusal(const GaveUp& gave_up, std::string_view why, const Session& session, int busy);

}  // namespace rlock
