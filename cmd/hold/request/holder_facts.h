#pragma once

#include <string>
#include <vector>

#include "cmd/hold/request/hold_request.h"
#include "sync/records/metadata.h"

namespace rlock {

// The metadata of a holder or a waiter: what it says of its process. HeldKeys adds what it says of the lock.

/// For a run: its command (`show_args`: with all words), its reason and labels, and how it is stopped.
Metadata about_run(const HoldRequest& request, const std::vector<std::string>& command, bool show_args);

/// For `lock acquire`: the calling script, because rlock itself ends at once.
Metadata about_script(const HoldRequest& request);

/// For `permit acquire`, `sem acquire` and `latch wait`: the calling script.
Metadata about_calling_script();

/// The lease of the metadata of a waiter that never holds. The value does not matter, because such metadata lasts as
/// long as the waiter's place in the line.
constexpr Milliseconds kWaiterFacts{1};

}  // namespace rlock
