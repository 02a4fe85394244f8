#pragma once

#include <string>

#include "base/names.h"
#include "base/time.h"

namespace rlock {

/// How long a server remembers that it has done a request. Longer than anybody keeps repeating one, and than a copy can
/// stay in a connection that was given up.
constexpr Milliseconds kRequestMemory{60000};

/// Where a request is remembered: among the unlock latches of Redisson, so that an ACL made for Redisson suffices.
std::string request_key(const LockName& name, const RequestId& request);

}  // namespace rlock
