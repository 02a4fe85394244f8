#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/call.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/together.h"

namespace rlock {

/// One of the things to take, with what is to be written beside it (metadata).
struct Part {
  std::shared_ptr<const Lockable> lock;
  std::vector<Call> followers{};          ///< of the call that takes or renews it
  std::vector<Call> release_followers{};  ///< of the call that releases or undoes it
};

/// The keys of these parts.
inline std::vector<LockName> names_of(const std::vector<Part>& parts) {
  std::vector<LockName> names;
  for (const Part& part : parts) names.push_back(part.lock->name());
  return names;
}

/// What to take: all parts or none, in this order.
struct Wish {
  std::vector<Part> parts;
  std::optional<Together> together{};  ///< takes all of them at once, where one script can
};

}  // namespace rlock
