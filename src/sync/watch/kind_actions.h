#pragma once

#include <memory>

#include "base/names.h"
#include "redis/call.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/kind.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/pub_sub.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// What can be done with a key whose kind was found, by commands that do not know what it is (unlock, stop, lock
/// release and renew). The only table that needs the classes of the synchronizers.
struct KindActions {
  const Kind* kind;

  /// Removes it, whoever holds it; if an owner is given, only when that one does. Null: it is no lock.
  Call (*force)(const LockName& name, const Owner& owner, PubSub pub_sub) = nullptr;

  /// The hold of `holder`, to be renewed or released by a command that knows only key and owner. Releasing it
  /// wakes the head of a fair queue, too. Null: no owner holds it.
  std::unique_ptr<Lockable> (*hold)(const Inspection& found, const Holder& holder,
                                    const Claim& claim) = nullptr;
};

/// Each kind has a row.
const KindActions& actions_of(const Kind& kind);

}  // namespace rlock
