#pragma once

#include <string_view>

#include "sync/kinds/kind.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// Refuses, because the script found something else under the key (lua/shared/redis/kind_of). The text says
/// what the key holds and how to go on. `wanted` names what was asked for: "a lock".
Refused refuse_foreign(const LockName& name, std::string_view wanted, std::string_view found);
Refused refuse_foreign(const LockName& name, std::string_view wanted, const Kind& found);

/// Another owner holds the key for `pttl` more; -1: it has no TTL. `holder`: one owner; nil: unknown.
Busy busy_until(const Reply& pttl, const Reply& holder = {});

}  // namespace rlock
