#pragma once

#include "sync/kinds/lock.h"

namespace rlock {

/// Redisson's RFencedLock: a Lock with a token. Each hold draws a token that is larger than all before it
/// (Held::fence). A service that the holder calls can refuse a token that is smaller than one it has seen.
class FencedLock final : public Lock {
 public:
  explicit FencedLock(const Claim& claim, Hold hold = Hold::first);
};

}  // namespace rlock
