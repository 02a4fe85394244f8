#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/server/session.h"

namespace rlock {

/// What a completion may ask for: keys that rlock has written something about; those, and all that hold a
/// number, as idle pools, semaphores and latches do; the owners that hold a key; and, for which no server is asked, the profiles
/// of the configuration files.
constexpr std::string_view kCandidates = "keys numbers owners profiles";

/// The candidates for a word that somebody types, one a line: keys without the prefix in force. Left out is
/// what no shell may type for the user: whoever may write to the server chooses these names.
/// `keys`: as typed, for "owners".
std::string candidates(Session& session, std::string_view what, const std::vector<std::string>& keys);

}  // namespace rlock
