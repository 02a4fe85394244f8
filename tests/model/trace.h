#pragma once

#include <string>
#include <vector>

#include "redis/call.h"
#include "redis/reply.h"

namespace rlock::model {

/// A line for the shell that has this call executed, where `call` is defined as script_of() does.
std::string command_line(const Call& call);

/// 7, 'text', nil, [1, 'a'], !ERR ...
std::string written(const Reply& reply);

/// The whole as a script for the shell: RLOCK=build/dev/rlock REDIS="redis-cli -s SOCKET" sh trace
std::string script_of(const std::vector<std::string>& lines);

}  // namespace rlock::model
