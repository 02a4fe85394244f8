#pragma once

#include "base/error.h"

namespace rlock {

/// The exit statuses of rlock itself. All others come from the command that it ran, from -E, or from a signal.
namespace exit_code {

constexpr int ok = 0;              ///< it is done, or the answer is yes
constexpr int no = 1;              ///< a verb that runs no command answers no, or finds nothing
constexpr int usage = 64;          ///< the command line makes no sense
constexpr int wrong_type = 65;     ///< the key holds something else
constexpr int unreachable = 69;    ///< no usable server; too late for the command; flock: cannot execute it
constexpr int internal = 70;       ///< rlock or the server broke a promise
constexpr int system = 71;         ///< the operating system refused
constexpr int busy = 75;           ///< not acquired (-E changes it)
constexpr int denied = 77;         ///< authentication, permission, TLS identity
constexpr int config = 78;         ///< a configuration that cannot work
constexpr int max_hold = 124;      ///< stopped by --max-hold or rlock stop
constexpr int lost = 125;          ///< the lock was lost while the command ran
constexpr int not_runnable = 126;  ///< the command exists, but cannot be executed
constexpr int not_found = 127;     ///< the command does not exist

/// The exit status for a failure that reached main.
int of(Error::Kind kind) noexcept;

}  // namespace exit_code
}  // namespace rlock
