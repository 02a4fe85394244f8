#pragma once

#include <memory>

#include "base/names.h"
#include "redis/call.h"
#include "sync/calls/claim.h"
#include "sync/calls/kind.h"
#include "sync/calls/lockable.h"
#include "sync/calls/pub_sub.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// What commands that do not know the kind of a key (unlock, stop, lock release and renew) can do with it.
/// With this table, they need none of the classes of the synchronizers.
struct KindActions {
  const Kind* kind;

  /// Makes the call that removes the lock. If `owner` is not empty, the call removes it only if that owner holds
  /// it. Null: the kind is no lock.
  Call (*force)(const LockName& name, const Owner& owner, PubSub pub_sub) = nullptr;

  /// The hold of `holder`, for a command that knows only key and owner and renews or releases it. The release
  /// also wakes the head of a fair queue. Null: it has no owner.
  std::unique_ptr<Lockable> (*hold)(const Inspection& found, const Holder& holder,
                                    const Claim& claim) = nullptr;
};

/// Every kind has a row.
const KindActions& actions_of(const Kind& kind);

}  // namespace rlock
