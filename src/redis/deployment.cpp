#include "redis/deployment.h"

#include "redis/single.h"

namespace rlock {

std::unique_ptr<Route> make_route(Loop& loop, const Target& target, const Timeouts& timeouts) {
  return std::make_unique<Single>(loop, target, timeouts);
}

}  // namespace rlock
