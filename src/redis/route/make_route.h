#pragma once

#include <memory>

#include "redis/route/route.h"

namespace rlock {

/// Makes the Route for a Target: a single server, Sentinel, a Cluster, or the private server of `local:`. The
/// private server is started if it does not run; `interrupted` ends that wait. Throws Error{config} or
/// Error{unreachable} if it cannot be started.
std::unique_ptr<Route> make_route(Loop& loop, const Target& target, const Timeouts& timeouts,
                                  const Interrupted& interrupted);

}  // namespace rlock
