#pragma once

#include <string_view>

#include "sync/calls/kind.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// Makes the refusal for a key under which the script found something else (lua/shared/redis/kind_of). Its
/// text says what the key holds and how to go on. `wanted` names what was asked for: "a lock".
Refused refuse_foreign(const LockName& name, std::string_view wanted, std::string_view found);
Refused refuse_foreign(const LockName& name, std::string_view wanted, const Kind& found);

}  // namespace rlock
