#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/call.h"
#include "sync/calls/lockable.h"
#include "sync/kinds/together.h"

namespace rlock {

/// One of the things to acquire, with the calls that record its metadata. `Thing`: Lockable; a wait takes any Waitable,
/// also one that is no lock, such as a semaphore or a latch.
template <class Thing>
struct PartOf {
  std::shared_ptr<const Thing> lock;
  std::vector<Call> followers{};          ///< go behind the call that acquires or renews it
  std::vector<Call> release_followers{};  ///< go behind the call that releases or undoes it
  bool joins = false;  ///< adds a hold to one of a process above us, which has its metadata
};
using Part = PartOf<Lockable>;

inline std::vector<LockName> names_of(const std::vector<Part>& parts) {
  std::vector<LockName> names;
  for (const Part& part : parts) names.push_back(part.lock->name());
  return names;
}

/// What to acquire: all parts or none, in this order.
struct AcquireRequest {
  std::vector<Part> parts;
  std::optional<Together> together{};  ///< acquires all parts at once; empty: no single script can
};

}  // namespace rlock
