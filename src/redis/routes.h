#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/node.h"

namespace rlock {

/// Makes the Route for a Target: a single server, Sentinel, a Cluster, or the private server of `local:`. The
/// private server is started if it does not run; `interrupted` ends that wait. Throws Error{config} or
/// Error{unreachable} if it cannot be started.
std::unique_ptr<Route> make_route(Loop& loop, const Target& target, const Timeouts& timeouts,
                                  const Interrupted& interrupted);

/// Do two of these nodes lead to the same server, as far as the servers have told their identity? It would
/// vote twice, and could be a majority alone.
std::optional<Failure> same_server_twice(const std::vector<Node>& nodes);

}  // namespace rlock
