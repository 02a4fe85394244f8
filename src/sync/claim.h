#pragma once

#include "base/names.h"
#include "base/time.h"
#include "sync/pub_sub.h"

namespace rlock {

/// Who asks for what, and for how long: what every synchronizer with an owner is made from.
struct Claim {
  LockName name;
  Owner owner;
  Milliseconds lease{30000};  ///< at least 1 ms
  PubSub pub_sub = PubSub::classic;

  /// The owner was named by the user and may have the lock before and after
  /// this hold. Such a hold is told from the others by a request, not by
  /// its owner: so a copy of a call that comes late touches no other hold.
  bool owner_returns = false;
};

/// Whether it is the owner's first hold, or one more of what the owner must have already (re-entry).
enum class Hold { first, another };

}  // namespace rlock
