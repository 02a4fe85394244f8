#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cmd/hold/keys/held_keys.h"
#include "cmd/hold/report/events.h"
#include "cmd/hold/report/hold_environment.h"
#include "cmd/server/session.h"
#include "sync/hold/release.h"

namespace rlock {

/// How `lock acquire` prints the hold: for a shell to evaluate, as a JSON document, or only the owner id.
struct PrintedAs {
  bool json = false;
  std::optional<Shell> shell{};
};

/// Prints the ids or the number that only the caller of an acquire gets to know. A signal ends the wait for a reader.
/// Returns 0 or the errno of the failure: EINTR for a signal.
[[nodiscard]] int print_hold(Session& session, std::string_view text);

/// Undoes what this process has acquired: see undo(). A second signal ends the wait for the answers.
[[nodiscard]] std::vector<Undone> undo_acquire(Session& session, std::span<const Part> parts);

/// Gives held keys to the script: reports the acquire to `events`, starts a keeper if one was asked for, and prints the
/// owner. After that only the keeper reports events. If the keeper does not start, nothing is printed. After any
/// failure, undoes the acquire and throws Error or EndedBySignal.
void hand_over(Session& session, const HeldKeys& keys, const PrintedAs& how, Events& events);

}  // namespace rlock
