#pragma once

#include <string>
#include <vector>

#include "cmd/server/session.h"

namespace rlock {

// The candidates for a word that the user types. A word that no shell may type for the user is left out:
// any client that may write to the server chooses these names.

/// The keys of which rlock has a record, without the prefix in force. `numbers`: also all keys that hold a
/// number, such as idle pools, semaphores and latches.
std::vector<std::string> key_candidates(Session& session, bool numbers);

/// The owners that hold a key. `key`: as typed.
std::vector<std::string> owner_candidates(Session& session, const std::string& key);

}  // namespace rlock
