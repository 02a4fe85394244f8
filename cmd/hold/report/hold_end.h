#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cmd/hold/command/held_command.h"
#include "redis/redis.h"
#include "sync/calls/lockable.h"
#include "sync/records/history.h"

namespace rlock {

/// When a hold ends whose release nobody has confirmed: "expires within 30s". `expires_within`: see HeldKeys.
std::string unconfirmed_end(std::optional<Milliseconds> expires_within);

/// Why a hold was lost.
struct Loss {
  std::string why;  ///< for people
  /// If it was removed by force, who did it and why: "alice@ops: stuck since noon".
  std::optional<std::string> by = {};

  static Loss removed_by(const std::string& whom) { return {"removed by " + whom, whom}; }
};

/// The reason for a loss that was found only at the release.
constexpr std::string_view kLostAtRelease = "it was not ours any more at its release";

/// Reports a loss that was found only after the command or script had ended. `keys`: for people, in quotes.
void warn_late_loss(std::string_view keys, std::string_view why = kLostAtRelease);

/// The end of a run's hold, for the history of its keys.
HoldEnd end_of(const CommandOutcome& ended, const std::optional<Loss>& lost);

/// Finds out from the history of a key who has removed our hold by force. `since`: the time of the acquire.
/// Empty: the history names nobody, or no server answered in time.
std::optional<std::string> removed_by(Redis& redis, const Lockable& lock, ServerTime since);

}  // namespace rlock
