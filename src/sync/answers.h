#pragma once

#include <string_view>

#include "sync/claim.h"
#include "sync/lockable.h"

namespace rlock {

/// What the scripts of every kind of lock answer alike, read once.

/// To acquire: {1, now[, token]} held; {0, pttl} busy; {2}
/// one more hold was asked for, and this owner has none;
/// {3} it would wait for itself; {-1, kind} something else
/// stands there. `wanted` is what was asked for: "a lock".
Attempt read_attempt(const Claim& claim, std::string_view wanted, const Reply& reply);

/// To release: {1, why} free; {0} an outer hold remains; {2, rest} kept;
/// {-1} not ours. What {3} and {4} mean is the lock's own business.
Released parse_release(const Reply& reply);

/// What force came to.
struct Forced {
  enum class How {
    removed,
    nothing_there,
    other_owner,  ///< see `other`
    refused,      ///< see `refused`
  } how = How::removed;
  std::string other{};
  std::string unannounced{};  ///< why waiters could not be told; empty when they were
  Refused refused{};
};

/// To force: {1, why} removed; {0} nothing there; {2, other}
/// somebody else's; {-1, kind} something else stands there.
Forced read_forced(const LockName& name, std::string_view wanted, const Reply& reply);

}  // namespace rlock
