#include "sync/lockable.h"

#include <fmt/format.h>

namespace rlock {

bool Lockable::read_renewal(const Reply& reply) const {
  const std::int64_t renewed = reply.integer();
  if (renewed == 0 || renewed == 1) return renewed == 1;
  throw Error{Error::internal, fmt::format("a script answered {} to renew", renewed)};
}

}  // namespace rlock
