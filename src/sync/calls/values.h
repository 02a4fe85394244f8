#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "redis/call.h"

namespace rlock {

/// Keys and arguments for scripts, by their names in the contracts of lua/. A script takes the values that
/// its contract names.
using Values = std::vector<std::pair<Parameter, std::string>>;

/// The first value with this name. REQUIRES: there is one.
const std::string& value_of(const Values& values, Parameter name);

/// Makes the call of a script. If two values have the same name, the first counts. Throws Error{internal} if the
/// script needs a value that is missing. An optional value may be missing only if all those behind it are too.
Call call_of(const Script& script, Values values);

/// The call of another script with the values of `call`, and `more`. Throws as call_of() does.
Call call_with(const Call& call, const Script& script, Values more);

/// The keys of a key's line of waiters, and those of a fair lock's queue: see keys.h.
Values line_values(const LockName& name);
Values queue_values(const LockName& name);

}  // namespace rlock
