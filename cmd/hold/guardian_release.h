#pragma once

#include <string>
#include <vector>

#include "cmd/hold/held_keys.h"
#include "family/guardian_main.h"

namespace rlock {

/// Called in a guardian after rlock was killed or stopped, and the processes of the command or script have ended.
/// Releases `parts` over new connections. With --min-hold, which only a run has, keeps all keys instead. With --once-per
/// it releases the key, so that the next host may try. If the lock has another owner by now, nothing changes.
///
/// If rlock was killed, reports this to --events and --syslog. If rlock was stopped, rlock reports the end when it goes
/// on. `whom`: what was killed or stopped, for the history: "rlock", "the keeper of the script".
void release_in_guardian(const HeldKeys& keys, const std::vector<Part>& parts, const std::string& whom,
                         RlockEnd how, TimePoint now);

}  // namespace rlock
