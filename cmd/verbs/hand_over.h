#pragma once

#include <optional>

#include "cmd/run/command_environment.h"
#include "cmd/run/held_keys.h"
#include "cmd/server/session.h"

namespace rlock {

/// How `lock acquire` prints what it holds: for a shell to evaluate, as a JSON document, or as an owner id alone.
struct PrintedAs {
  bool json = false;
  std::optional<Shell> shell{};
};

/// Gives keys that are held to the script: prints the owner, and leaves a keeper behind if one was asked for.
/// Throws Error if that fails; a lock that the script does not know of, or that nobody keeps, has been undone then.
void hand_over(Session& session, const HoldRequest& request, const HeldKeys& keys, const PrintedAs& how);

}  // namespace rlock
