#pragma once

#include <string>
#include <vector>

#include "cmd/server/session.h"

namespace rlock {

// The candidates for a word that somebody types. Left out is what no shell may type for the user: whoever may
// write to the server chooses these names.

/// Keys that rlock has written something about, without the prefix in force. `numbers`: also all that hold a number,
/// as idle pools, semaphores and latches do.
std::vector<std::string> key_candidates(Session& session, bool numbers);

/// The owners that hold a key. `key`: as typed.
std::vector<std::string> owner_candidates(Session& session, const std::string& key);

}  // namespace rlock
