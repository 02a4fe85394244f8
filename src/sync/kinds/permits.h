#pragma once

#include "sync/kinds/lock_base.h"

namespace rlock {

/// The slot in the id of a permit of rlock's; nothing where there is none, or the id is of another client.
std::optional<std::int64_t> slot_in(const std::string& id);

/// Permits of Redisson's RPermitExpirableSemaphore: each
/// is a lease, so that those of a dead holder come back.
///
/// Each of ours has a slot, from 0, that no other living permit
/// of rlock's has (Held::slots): it stands in the permit's id.
class Permits final : public LockBase {
 public:
  /// How many can be taken at once: the server answers nobody else meanwhile.
  static constexpr std::int64_t kMostAtOnce = 1000;

  struct Wanted {
    std::int64_t count = 1;  ///< all of them or none; at most kMostAtOnce
    std::optional<std::int64_t>
        total{};  ///< the size that the pool must have, and is made with; nothing: any, and none is made
  };

  /// Hold::another is a hold inside that of the same owner, with
  /// its permits. It cannot be counted: it ends with the outer one.
  Permits(const Claim& claim, const Wanted& wanted, Hold hold = Hold::first);

  Evidence evidence() const override;

 private:
  Attempt decode(const Reply& reply) const override;
  Held decode_held(const Reply& reply) const;
  Call take(Milliseconds lease, Milliseconds waited) const override;

  Wanted wanted_;
};

}  // namespace rlock
