#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redis/call.h"
#include "redis/reply.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// Asks for the number of listeners on a channel. An error reply counts as 0.
Call count_listeners(const LockName& name, const Channel& channel);
Call count_listeners(const Inspection& inspection);  ///< counts them on the channel of its releases
std::int64_t read_listeners(const Reply& reply);

/// Asks for the names of all clients that listen on the server. The server does not say which channel they
/// listen to. Each name comes once. An error reply (no permission) gives none.
Call ask_listeners();
std::vector<std::string> read_names(const Reply& reply);

}  // namespace rlock
