#include "redis/deployment.h"

#include "redis/local.h"
#include "redis/single.h"

namespace rlock {
namespace {

/// The private server, running. It knows no passwords: its folder keeps others out.
Target running(Target local) {
  local.addresses = {ensure_local_server(within(kLocalStart))};
  local.user.clear();
  local.password = {};
  return local;
}

}  // namespace

std::unique_ptr<Route> make_route(Loop& loop, const Target& target, const Timeouts& timeouts) {
  const bool local = target.topology == Target::Topology::local;
  return std::make_unique<Single>(loop, local ? running(target) : target, timeouts);
}

}  // namespace rlock
