#pragma once

#include <string>

#include "cmd/hold/keys/held_keys.h"
#include "process/environment.h"

namespace rlock {

/// The RLOCK_ variables that describe the hold to the command. A variable that does not apply is unset, so that the
/// command does not see the value of an outer hold.
Variables describe_hold(const HeldKeys& keys);

/// The same for a command without a lock: RLOCK_HELD=0 and RLOCK_PID. RLOCK_STACK stays as it is, because processes
/// above us still have their holds. The others are unset.
Variables describe_no_hold();

enum class Shell { posix, fish };

/// The text by which a shell sets RLOCK_OWNER, RLOCK_FENCE, RLOCK_KEY, RLOCK_STACK, and for permits their slots, for
/// the rest of a script. `lock release` and `lock renew` read RLOCK_OWNER and RLOCK_KEY, and a nested run reads
/// RLOCK_STACK.
std::string export_text(const HeldKeys& keys, Shell shell);

/// The text after a failure. It makes the shell's `eval` return this status; without it, `eval "$(...)"` would hide
/// the failure.
std::string failure_text(int status, Shell shell);

/// The changes that remove passwords from an environment. They unset the variables from which rlock reads a password,
/// and take the password out of REDIS_URL. RLOCK_URL needs no change: rlock sets it without the password.
Variables without_passwords();

}  // namespace rlock
