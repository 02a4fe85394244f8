#pragma once

#include <cstdint>

#include "base/names.h"
#include "base/time.h"
#include "sync/kinds/pub_sub.h"

namespace rlock {

/// What happens to who does not get it: a place among those who wait, or none. A try that does not wait
/// leaves nothing behind. Over several servers there are no places: each would order the waiters in another
/// way.
enum class Turn { queue, leave, no_places };

/// Who asks for what, and for how long: what every synchronizer with an owner is made from.
struct Claim {
  LockName name;
  Owner owner;
  Milliseconds lease{30000};  ///< at least 1 ms; of permits also 0: they never end
  PubSub pub_sub = PubSub::classic;

  /// The owner was named by the user and may have the lock before and after
  /// this hold. Such a hold is told from the others by a request, not by
  /// its owner: so a copy of a call that comes late touches no other hold.
  bool owner_returns = false;

  Turn turn = Turn::leave;

  /// What Arrival has drawn for who waits with --newest: a larger one supersedes it. 0: it waits without.
  std::int64_t ticket = 0;
};

/// Whether it is the owner's first hold, or one more of what the owner must have already (re-entry).
enum class Hold { first, another };

}  // namespace rlock
