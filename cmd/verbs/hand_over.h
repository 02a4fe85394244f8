#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cmd/hold/events.h"
#include "cmd/hold/held_keys.h"
#include "cmd/hold/hold_environment.h"
#include "cmd/server/session.h"

namespace rlock {

/// How `lock acquire` prints the hold: for a shell to evaluate, as a JSON document, or only the owner id.
struct PrintedAs {
  bool json = false;
  std::optional<Shell> shell{};
};

/// Prints the ids or the number that only the caller of an acquire gets to know. A signal ends the wait for a reader.
/// Returns 0 or the errno of the failure: EINTR for a signal.
[[nodiscard]] int print_hold(Session& session, std::string_view text);

/// What an undo came to. `nothing`: the owner has no more than the holds that it had before.
enum class [[nodiscard]] Undone { all, nothing, unconfirmed };

/// Undoes what this process has acquired, and no other hold of the owner. A second signal ends the wait for the answers.
Undone undo_acquire(Session& session, const std::vector<Part>& parts);

/// Gives held keys to the script: reports the acquire to `events`, starts a keeper if one was asked for, and prints the
/// owner. After that only the keeper reports events. If the keeper does not start, nothing is printed. After any
/// failure, undoes the acquire and throws Error or EndedBySignal.
void hand_over(Session& session, const HeldKeys& keys, const PrintedAs& how, Events& events);

}  // namespace rlock
