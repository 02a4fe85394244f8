#pragma once

#include <string>
#include <vector>

#include "redis/call.h"
#include "redis/reply.h"

namespace rlock::model {

/// A shell line that makes this call; script_of() defines `call`.
std::string command_line(const Call& call);

/// A reply as text: 7, 'text', nil, [1, 'a'], !ERR ...
std::string written(const Reply& reply);

/// The trace as a shell script: RLOCK=build/dev/rlock REDIS="redis-cli -s SOCKET" sh trace
std::string script_of(const std::vector<std::string>& lines);

}  // namespace rlock::model
