#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/time.h"
#include "redis/vote.h"

namespace rlock {

/// Which part of several nodes must agree.
enum class Quorum { majority, all };

constexpr std::size_t majority_of(std::size_t nodes) { return nodes / 2 + 1; }

/// Have at least this many nodes given an answer that is no error?
inline bool answered_by(std::size_t nodes, const Votes& votes) {
  const auto answers =
      std::ranges::count_if(votes, [](const Vote& vote) { return vote.good_reply() != nullptr; });
  return static_cast<std::size_t>(answers) >= nodes;
}

/// Decides when a call has enough votes: when some nodes have decided, the slower ones get a while longer.
/// It has no I/O and no clock; it fits Redis::EnoughFrom.
class Enough {
 public:
  /// The call is decided by the answers of this many nodes, errors excluded; the other nodes get `grace`.
  Enough(std::size_t nodes, Milliseconds grace) : nodes_(nodes), grace_(grace) {}

  /// The time from which the votes are enough; kNever: it is not decided.
  TimePoint operator()(const Votes& votes, TimePoint now) { return from(answered_by(nodes_, votes), now); }

  /// The same time, but the caller says whether the call is decided. The first call with `decided` fixes the time.
  TimePoint from(bool decided, TimePoint now) { return from(decided, now, grace_); }
  TimePoint from(bool decided, TimePoint now, Milliseconds grace) {
    if (decided && !from_) from_ = plus(now, grace);
    return from_.value_or(kNever);
  }

  std::size_t nodes() const noexcept { return nodes_; }

 private:
  std::size_t nodes_;
  Milliseconds grace_;
  std::optional<TimePoint> from_;
};

}  // namespace rlock
