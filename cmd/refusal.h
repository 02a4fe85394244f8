#pragma once

#include <string>
#include <string_view>

#include "sync/acquire.h"

namespace rlock {

/// Says on stderr why a wait ended without `what` ("'deploy'"), and answers the exit status that says it to a script: `busy` where
/// somebody else has it. `server`: where it was asked for.
/// REQUIRES: not interrupted; who was ends as the signal says.
int say_refusal(const GaveUp& gave_up, std::string_view what, const std::string& server, int busy);

}  // namespace rlock
