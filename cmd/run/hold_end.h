#pragma once

#include <optional>
#include <string>

#include "cmd/run/held_command.h"
#include "redis/redis.h"
#include "sync/kinds/lockable.h"
#include "sync/watch/history.h"

namespace rlock {

/// Why a hold was lost.
struct Loss {
  std::string why;                     ///< for a person
  std::optional<std::string> by = {};  ///< somebody has removed it: "alice@ops: stuck since noon"

  static Loss removed_by(const std::string& whom) { return {"removed by " + whom, whom}; }
};

/// How the hold of a run ended, for the history of its keys.
HoldEnd end_of(const CommandOutcome& ended, const std::optional<Loss>& lost);

/// The server says that a hold is not ours any more: did somebody remove it by force? That stands in the history
/// of its key. `since`: when it was acquired. Nothing: nobody says so, or not within a moment.
std::optional<std::string> removed_by(Redis& redis, const Lockable& lock, Milliseconds since);

}  // namespace rlock
