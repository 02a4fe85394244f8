#include "redis/routes.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "redis/cluster.h"
#include "redis/local.h"
#include "redis/sentinel.h"
#include "redis/single.h"

namespace rlock {
namespace {

/// The private server, running. It knows no passwords: its folder keeps others out.
Target running(Target local, const Interrupted& interrupted) {
  local.addresses = {ensure_local_server({plus(Clock::now(), kLocalStart), interrupted})};
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
      return std::make_unique<Single>(loop, running(target, interrupted), timeouts);
    case Target::Topology::sentinel: return std::make_unique<Sentinel>(loop, target, timeouts);
    case Target::Topology::cluster: return std::make_unique<Cluster>(loop, target, timeouts);
  }
  throw Error{Error::internal, "a deployment of no kind"};
}

std::optional<Failure> same_server_twice(const std::vector<std::unique_ptr<Route>>& routes) {
  std::map<std::string, const Route*> known;
  for (const auto& route : routes) {
    for (const std::string& id : route->run_ids()) {
      if (id.empty()) continue;
      const auto [other, is_new] = known.emplace(id, route.get());
      if (is_new || other->second == route.get())
        continue;  // a node may have several connections to a server
      return Failure{Error::config,
                     fmt::format("{} and {} are the same server, and it counts once; remove one --url",
                                 other->second->str(), route->str())};
    }
  }
  return std::nullopt;
}

}  // namespace rlock
