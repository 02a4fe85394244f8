#pragma once

#include <string>
#include <vector>

#include "cmd/cli/options.h"
#include "cmd/server/session.h"

namespace rlock {

// The candidates for a word that the user types. Words that a shell must not type for the user are left out,
// because any client with write access may have chosen them.

/// The keys with metadata of rlock, without the prefix. For Offer::counter also all keys that hold a number, such as
/// idle pools, semaphores and latches.
std::vector<std::string> key_candidates(Session& session, Offer offer);

/// The owners that hold a key. `key`: as typed.
std::vector<std::string> owner_candidates(Session& session, const std::string& key);

}  // namespace rlock
