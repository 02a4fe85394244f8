#pragma once

#include <memory>

#include "redis/route.h"

namespace rlock {

/// The Route that a Target asks for: a single server, Sentinel, a Cluster, or the private server of `local:`,
/// which is started when it does not run; `interrupted` ends that wait. Throws Error{config} or
/// Error{unreachable} for a `local:` that cannot be started.
std::unique_ptr<Route> make_route(Loop& loop, const Target& target, const Timeouts& timeouts,
                                  const Interrupted& interrupted);

}  // namespace rlock
