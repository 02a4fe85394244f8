#pragma once

#include <string_view>

#include "cmd/server/session.h"

namespace rlock {

/// Says on stderr why a wait ended in vain, and answers the exit status that says it to a script: `busy`
/// where the server said so, with `why` ("'deploy' is held by somebody else").
/// REQUIRES: not interrupted; see die_if_interrupted().
[[nodiscard]] int say_refusal(const GaveUp& gave_up, std::string_view why, const Session& session, int busy);

/// Ends us as the signal wants that has ended the wait, having said what it was about. Nothing happens where
/// none has come.
void die_if_interrupted(const Session& session, WaitLines& lines, const GaveUp& gave_up);

}  // namespace rlock
