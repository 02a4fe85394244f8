#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "loop/environment.h"

namespace rlock {

/// What the command is told about the hold it runs under.
struct HoldFacts {
  std::vector<LockName> keys;
  std::string type;
  Owner owner;
  std::vector<std::int64_t> fences;  ///< one for each key, or none
  Milliseconds lease{0};
  Milliseconds acquired_at{0};  ///< since the epoch, by the server's clock
  Milliseconds waited{0};
  std::vector<std::int64_t> slots;
  std::string stack;  ///< RLOCK_STACK, this hold included (cmd/run/inherited_hold)
};

/// All RLOCK_ variables. Those that do not apply are unset, so that the command does not see the values of
/// an outer hold.
Variables describe_hold(const HoldFacts& facts);

/// The same for a command that runs without a lock: RLOCK_HELD=0 and RLOCK_PID, the others to be unset.
/// RLOCK_STACK stays as it came: holds of processes above us are still theirs.
Variables describe_no_hold();

/// What a shell has to evaluate so that the rest of a script knows what it holds: RLOCK_OWNER, RLOCK_FENCE,
/// RLOCK_KEY and RLOCK_STACK. Those without a value are unset. Any bytes may stand in a key.
enum class Shell { posix, fish };
std::string export_text(const Variables& variables, Shell shell);

/// The same after a failure: the text ends with that status when it is evaluated, since `eval "$(...)"` would
/// hide it.
std::string failure_text(int status, Shell shell);

/// Takes the passwords of servers out of an environment: the variables from which rlock reads a password,
/// and the password in REDIS_URL. Other variables contain no password: RLOCK_URL is set without one, and
/// RLOCK_PASSWORD_FILE names a file.
Variables without_passwords();

}  // namespace rlock
