#pragma once

#include "redis/call.h"

/// Scripts and calls that only scripted servers see.
namespace rlock::test {

inline constexpr Script kScript{"test/one", "0123456789012345678901234567890123456789", "return 1"};
inline constexpr Script kOtherScript{"test/two", "1123456789012345678901234567890123456789", "return 2"};

inline Call call_for(const Script& script) { return {.script = &script, .keys = {"k"}, .args = {"a"}}; }

inline const Call kCall = call_for(kScript);

}  // namespace rlock::test
