#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/scene.h"
#include "sync/kinds/permit_lock.h"
#include "sync/kinds/pool.h"

namespace rlock::test {

inline const LockName kPool{"pool"};
inline const Channel kPoolChannel{"redisson_sc:{pool}"};
inline const std::string kSlots = "redisson_unlock_latch:{pool}:slots";

inline std::vector<std::int64_t> slots_of(const AcquireAnswer& answer) {
  return std::get<Held>(answer).slots;
}

struct PermitOptions {
  std::int64_t count = 1;
  std::optional<std::int64_t> total = std::nullopt;
  Milliseconds lease{30000};
  Hold hold = Hold::first;
};

inline PermitLock permits(const std::string& owner, const PermitOptions& options = {}) {
  return PermitLock{{.name = kPool, .owner = Owner{owner}, .lease = options.lease},
                    {.count = options.count, .total = options.total},
                    options.hold};
}

/// A server with the pool "pool", and calls for it.
struct Permitted : Scene {
  std::string available() { return server.cli({"GET", "pool"}); }
  std::string taken() { return server.cli({"ZCARD", "{pool}:timeout"}); }
  std::optional<Pool::Status> status() {
    const Pool pool{kPool, PoolKind::permits, PubSub::classic};
    return std::get<0>(pool.read_status(redis.run(pool.status())));
  }
  void pool_of(std::int64_t total) { redis.run(Pool{kPool, PoolKind::permits, PubSub::classic}.init(total)); }
};

}  // namespace rlock::test
