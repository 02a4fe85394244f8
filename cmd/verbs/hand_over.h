#pragma once

#include <optional>

#include "cmd/run/command_environment.h"
#include "cmd/run/events.h"
#include "cmd/run/held_keys.h"
#include "cmd/server/session.h"

namespace rlock {

/// How `lock acquire` prints the hold: for a shell to evaluate, as a JSON document, or only the owner id.
struct PrintedAs {
  bool json = false;
  std::optional<Shell> shell{};
};

/// Gives held keys to the script: prints the owner, and starts a keeper if one was asked for. If that fails,
/// undoes the acquire and throws Error. Reports the acquire to `events`, which the keeper then has.
void hand_over(Session& session, const HoldRequest& request, const HeldKeys& keys, const PrintedAs& how,
               Events& events);

}  // namespace rlock
