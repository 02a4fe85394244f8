#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "redis/call.h"

namespace rlock {

/// Keys and arguments for scripts, by the names that the contracts in lua/ give them: no caller counts positions. A
/// script takes those that it names.
using Values = std::vector<std::pair<Parameter, std::string>>;

/// The call of a script. Of two values with the same name the first counts. Throws Error{internal} if a value is
/// missing that the script needs, or that stands before one that is given.
Call call_of(const Script& script, const Values& values);

/// The keys of the line of waiters beside a key, and of the queue of a fair lock: see keys.h.
Values line_values(const LockName& name);
Values queue_values(const LockName& name);

}  // namespace rlock
