#include "redis/route/make_route.h"

#include "base/error.h"
#include "redis/route/cluster.h"
#include "redis/route/local.h"
#include "redis/route/sentinel.h"
#include "redis/route/single.h"

namespace rlock {
namespace {

/// Starts the private server if necessary. It has no password: its folder keeps other users out.
Target running(Target local, const Patience& patience) {
  local.addresses = {ensure_local_server(patience)};
  local.user.clear();
  local.password = {};
  return local;
}

}  // namespace

std::unique_ptr<Route> make_route(Loop& loop, const Target& target, const Timeouts& timeouts,
                                  const Interrupted& interrupted) {
  switch (target.topology) {
    case Target::Topology::single: return std::make_unique<Single>(loop, target, timeouts);
    case Target::Topology::local:
      return std::make_unique<Single>(loop, running(target, {plus(loop.now(), kLocalStart), interrupted}),
                                      timeouts);
    case Target::Topology::sentinel: return std::make_unique<Sentinel>(loop, target, timeouts);
    case Target::Topology::cluster: return std::make_unique<Cluster>(loop, target, timeouts);
  }
  throw Error{Error::internal, "a target of no kind"};
}

}  // namespace rlock
