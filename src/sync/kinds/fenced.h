#pragma once

#include "sync/kinds/lock.h"

namespace rlock {

/// RFencedLock: a Lock whose every hold draws a token that is larger than all before (Held::fence). Whoever
/// works for the holder can refuse a token that is older than one it has seen.
class FencedLock final : public Lock {
 public:
  explicit FencedLock(const Claim& claim, Hold hold = Hold::first);
};

}  // namespace rlock
