#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/route.h"

namespace rlock {

/// The Route that a Target asks for: a single server, Sentinel, a Cluster, or the private server of `local:`,
/// which is started when it does not run; `interrupted` ends that wait. Throws Error{config} or
/// Error{unreachable} for a `local:` that cannot be started.
std::unique_ptr<Route> make_route(Loop& loop, const Target& target, const Timeouts& timeouts,
                                  const Interrupted& interrupted);

/// Do two of these lead to one server by different names, as far as the servers have said who they are? Such
/// a server would vote twice, and make a majority of one.
std::optional<Failure> same_server_twice(const std::vector<std::unique_ptr<Route>>& routes);

}  // namespace rlock
