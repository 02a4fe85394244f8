#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cmd/hold/keys/held_keys.h"
#include "redis/redis.h"

namespace rlock {

/// Which keys of a hold has the owner released through another rlock (rlock lock release)? It asks about all keys at
/// once, so many keys take no longer than one. REQUIRES: the keys outlive it.
class ReleasedElsewhere {
 public:
  explicit ReleasedElsewhere(const HeldKeys& keys) : keys_(keys) {}

  /// Call it when the hold begins. An owner that the user named may have other holds before and after this one. Each
  /// of its releases leaves another number at the key. For such an owner this notes the numbers.
  void begin(Redis& redis, Milliseconds within);

  /// `parts` without those that are released, as far as servers answer in time.
  std::vector<Part> without_released(Redis& redis, const std::vector<Part>& parts, Milliseconds within) const;

 private:
  using Place = std::pair<LockName, std::size_t>;  ///< a key on a server

  bool has_named_owner() const { return keys_.request().owner.has_value(); }
  std::vector<Redis::Request> ask(Redis& redis, const std::vector<Part>& parts, Milliseconds within) const;
  bool says_released(const Reply& reply, const Place& place) const;

  const HeldKeys& keys_;
  std::map<Place, std::string> before_{};  ///< the numbers of begin(), from the servers that have answered
};

}  // namespace rlock
