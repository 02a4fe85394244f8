#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "redis/connection_number.h"
#include "redis/failure.h"
#include "redis/reply.h"

namespace rlock {

/// The reply of a node to a call, or why there is none. While both are empty, the node has not answered.
struct Vote {
  std::optional<Reply> reply;
  std::optional<Failure> failure;
  ConnectionNumber connection = ConnectionNumber::none;  ///< which answered
  TimePoint asked{};  ///< when the answered attempt began: a lease runs from here

  /// How often a server may have carried out the call. If it is more than once, an earlier copy may have changed what
  /// the reply says.
  int attempts = 0;

  bool settled() const noexcept { return reply || failure; }

  /// The reply if it is no error; otherwise null.
  const Reply* good_reply() const noexcept { return reply && !reply->is_error() ? &*reply : nullptr; }
};

/// One vote per node, in the order of the URLs.
using Votes = std::vector<Vote>;

}  // namespace rlock
