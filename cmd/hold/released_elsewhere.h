#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/hold/held_keys.h"
#include "redis/redis.h"

namespace rlock {

/// Which keys of a hold has the owner released through another rlock (rlock lock release)? It asks about all keys at
/// once, so many keys take no longer than one. REQUIRES: the keys outlive it.
class ReleasedElsewhere {
 public:
  explicit ReleasedElsewhere(const HeldKeys& keys) : keys_(keys) {}

  /// Call it when the hold begins. An owner that the user named may have other holds before and after this one, and each
  /// of its releases leaves another number at the key. For such an owner this notes the numbers.
  void begin(Redis& redis, Milliseconds within);

  /// Those of `parts` that are released, as far as servers answer in time.
  std::set<LockName> among(Redis& redis, const std::vector<Part>& parts, Milliseconds within) const;

 private:
  using Numbers =
      std::vector<std::optional<std::string>>;  ///< one for each server; empty: it has not answered

  const HeldKeys& keys_;
  std::map<LockName, Numbers> before_{};
};

}  // namespace rlock
