#include "redis/vote.h"

namespace rlock {

std::optional<Failure> Vote::trouble() const {
  if (failure()) return *failure();
  return reply() && reply()->is_error() ? std::optional{failure_of(*reply())} : std::nullopt;
}

}  // namespace rlock
