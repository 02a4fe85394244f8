#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "redis/failure.h"
#include "redis/reply.h"

namespace rlock {

/// A node's reply to a call, or why there is none. While neither is there, it has not answered yet.
struct Vote {
  std::optional<Reply> reply;
  std::optional<Failure> failure;
  std::uint64_t connection = 0;  ///< which one answered (Delivery::only_connection)
  TimePoint asked{};             ///< when the attempt that was answered was written: a lease runs from here

  /// How often the server may have received the call. More
  /// than once: the answer may tell what the first copy did.
  int attempts = 0;

  bool settled() const noexcept { return reply || failure; }

  /// The reply, if there is one that is no error.
  const Reply* good_reply() const noexcept { return reply && !reply->is_error() ? &*reply : nullptr; }
};

/// One vote per node, in the order of the URLs.
using Votes = std::vector<Vote>;

}  // namespace rlock
