#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sync/kinds/lock_base.h"

namespace rlock {

/// The length of the id of a permit.
constexpr std::size_t kPermitIdBytes = 16;

/// The slot in the id of one of rlock's permits. Empty: the permit has no slot, or is another client's.
std::optional<std::int64_t> slot_in(const std::string& id);

/// Permits of Redisson's RPermitExpirableSemaphore. A permit usually has a lease, so the permits of a dead
/// holder come back.
///
/// Each permit of rlock has a slot, counted from 0, that no other living permit of rlock has (Held::slots).
/// The slot is part of the permit's id.
class PermitLock final : public LockBase {
 public:
  /// At most this many permits are acquired in one call, because the server serves no other client meanwhile.
  static constexpr std::int64_t kMostAtOnce = 1000;

  struct Wanted {
    std::int64_t count = 1;  ///< acquires all of them or none; at most kMostAtOnce
    /// The size that the pool must have; an absent pool is made with it. Empty: any size; an absent pool is refused.
    std::optional<std::int64_t> total{};
  };

  /// Hold::inner is an inner hold that shares the permits of the same owner's hold: see inner_holds_key().
  PermitLock(const Claim& claim, const Wanted& wanted, Hold hold = Hold::first);

  HoldEntry hold_entry() const override;

 private:
  AcquireAnswer decode(const Reply& reply) const override;
  Held decode_held(const Reply& reply) const;
  Call acquire(Milliseconds waited) const override;

  Wanted wanted_;
};

}  // namespace rlock
