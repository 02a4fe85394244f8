#pragma once

#include <string>

#include "sync/calls/claim.h"

namespace rlock::test {

/// The channel of the lock "deploy".
inline const std::string kLockChannel = "redisson_lock__channel:{deploy}";

/// A claim for the lock "deploy", by an owner that waits in its line.
inline Claim waiting(const std::string& owner) {
  return {.name = LockName{"deploy"},
          .owner = Owner{owner},
          .lease = Milliseconds{30000},
          .if_busy = IfBusy::place};
}

}  // namespace rlock::test
