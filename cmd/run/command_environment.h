#pragma once

#include <string>

#include "base/names.h"
#include "cmd/run/held_keys.h"
#include "loop/environment.h"

namespace rlock {

/// The RLOCK_ variables that describe the hold to the command. A variable that does not apply is unset, so that the
/// command does not see the value of an outer hold.
Variables describe_hold(const HoldRequest& request, const HeldKeys& keys);

/// The same for a command without a lock: RLOCK_HELD=0 and RLOCK_PID; the others are unset. RLOCK_STACK
/// stays, because processes above us still have their holds.
Variables describe_no_hold();

/// The text by which a shell sets RLOCK_OWNER, RLOCK_FENCE, RLOCK_KEY, RLOCK_STACK, and for permits their slots, for
/// the rest of a script. lock release, lock renew and nested runs read them. `id`: the owner id that was printed. A
/// key may contain any byte.
enum class Shell { posix, fish };
std::string export_text(const HoldRequest& request, const HeldKeys& keys, const Owner& id, Shell shell);

/// The same after a failure: a text that makes the shell's `eval` return this status. Without it, `eval
/// "$(...)"` would hide the failure.
std::string failure_text(int status, Shell shell);

/// Removes servers' passwords from an environment: the variables from which rlock reads a password, and the
/// password in REDIS_URL. Other variables contain no password: rlock sets RLOCK_URL without it, and
/// RLOCK_PASSWORD_FILE names a file.
Variables without_passwords();

}  // namespace rlock
