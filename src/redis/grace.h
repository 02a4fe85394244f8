#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"
#include "redis/vote.h"

namespace rlock {

/// How long the slower nodes get when the others have decided: a while, counted from that moment. Pure.
class Grace {
 public:
  /// From when on nobody waits any more; kNever before the others have decided. The first call with `decided`
  /// fixes it.
  TimePoint until(bool decided, TimePoint now, Milliseconds grace) {
    if (decided && !until_) until_ = plus(now, grace);
    return until_.value_or(kNever);
  }

 private:
  std::optional<TimePoint> until_;
};

/// Have so many nodes answered with something else than an error?
inline bool answered_by(std::size_t nodes, const Votes& votes) {
  const auto answers =
      std::ranges::count_if(votes, [](const Vote& vote) { return vote.good_reply() != nullptr; });
  return static_cast<std::size_t>(answers) >= nodes;
}

}  // namespace rlock
