#pragma once

#include <string_view>

#include "sync/kinds/kind.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// Refuses because of what a script found under the key
/// (lua/shared/redis/kind_of): says what stands there and how to go on.
/// `wanted` is what was asked for: "a lock".
Refused refuse_foreign(const LockName& name, std::string_view wanted, std::string_view found);
Refused refuse_foreign(const LockName& name, std::string_view wanted, const Kind& found);

/// {0, pttl}: somebody else has it until then; -1: what stands there never frees itself.
Busy busy_until(const Reply& pttl, const Reply& holder = {});

}  // namespace rlock
