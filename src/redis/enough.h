#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"
#include "redis/vote.h"

namespace rlock {

/// Have so many nodes answered with something else than an error?
inline bool answered_by(std::size_t nodes, const Votes& votes) {
  const auto answers =
      std::ranges::count_if(votes, [](const Vote& vote) { return vote.good_reply() != nullptr; });
  return static_cast<std::size_t>(answers) >= nodes;
}

/// When a call has enough votes: some nodes decide, and the slower ones get a while longer, counted from the
/// moment at which that was seen. Pure. It fits Redis::EnoughFrom.
class Enough {
 public:
  /// So many nodes decide by an answer that is no error; the other nodes get `grace`.
  Enough(std::size_t nodes, Milliseconds grace) : nodes_(nodes), grace_(grace) {}

  /// From when on the votes are enough; kNever before the nodes have decided.
  TimePoint operator()(const Votes& votes, TimePoint now) { return from(answered_by(nodes_, votes), now); }

  /// The same for a caller that counts by another rule. The first call with `decided` fixes the time.
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
