#pragma once

#include <cstdint>

#include "base/names.h"
#include "base/time.h"
#include "sync/calls/pub_sub.h"

namespace rlock {

/// What a busy acquire leaves behind. `place`: a place in the line, or in the queue of a fair lock. `leave`:
/// nothing, because the caller does not wait, or polls. `no_places`: over several servers there is no line, because
/// each server would order the waiters differently.
enum class IfBusy { place, leave, no_places };

/// The lease that nobody has chosen. A lock of Redisson has the same.
constexpr Milliseconds kDefaultLease{30000};

/// The lock, the owner and the lease that an acquire asks for. Every synchronizer with an owner is made from
/// a Claim.
struct Claim {
  LockName name;
  Owner owner;
  Milliseconds lease = kDefaultLease;  ///< at least 1 ms; for permits also 0: they never end
  PubSub pub_sub = PubSub::classic;

  /// The server tells holds apart by a request instead of the owner, so that a late copy of a call touches no
  /// other hold. This is needed if the user named the owner, because it may then hold the lock before and
  /// after this hold. Permits without a lease need it, too.
  bool owner_returns = false;

  /// For an inner hold: the request that acquires it, if it was chosen before. The ID of the hold names it.
  /// Empty: a new request is made.
  RequestId request{};

  IfBusy if_busy = IfBusy::leave;

  /// The ticket that Arrival drew for a waiter with --newest. A waiter with a larger ticket supersedes this
  /// one. 0: the waiter has none.
  std::int64_t ticket = 0;
};

/// Which hold of its owner this is.
enum class Hold {
  first,  ///< the first one
  inner,  ///< one more hold of an owner that already has the lock (re-entry)
  found,  ///< a hold that was found on the server; only its owner is known
};

/// How the server tells this release, and late copies of it, from releases of other holds of the same owner.
enum class Way {
  first,  ///< no later hold has this owner, so a late copy may also release what a late copy of the call acquired
  again,  ///< the owner may acquire the lock again, and a late copy must not release that hold
  undo,   ///< the undo of an acquire: it releases only the hold that this request has acquired
  inner,  ///< the release of an inner hold by the request that acquired it; of several such releases only one counts
};

}  // namespace rlock
