#pragma once

#include "sync/kinds/claim.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/requests.h"

namespace rlock {

/// The slot in the id of a permit of rlock's; nothing where there is none, or the id is of another client.
std::optional<std::int64_t> slot_in(const std::string& id);

/// Permits of Redisson's RPermitExpirableSemaphore: each
/// is a lease, so that those of a dead holder come back.
///
/// Each of ours has a slot, from 0, that no other living permit
/// of rlock's has (Held::slots): it stands in the permit's id.
class Permits final : public Lockable {
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
  Permits(Claim claim, const Wanted& wanted, Hold hold = Hold::first);

  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  std::optional<Call> undo(Wake wake) const override;
  std::vector<Channel> channels() const override;
  const Line* line(const Busy& busy) const override { return busy.position ? &line_ : nullptr; }
  bool queues() const override { return line_.queues() && hold_ == Hold::first; }

  Call renew() const override;

  Call release(const ReleaseOptions& options) const override;

  const LockName& name() const override { return claim_.name; }
  const Owner& owner() const override { return claim_.owner; }
  Evidence evidence() const override { return {slots_, claim_.owner.str(), line_.waiting()}; }

 private:
  Attempt decode(const Reply& reply) const override;
  Held decode_held(const Reply& reply) const;
  Released decode_release(const Reply& reply) const override;
  Call enter(Milliseconds lease) const;
  Call release_call(const ReleaseOptions& options, Way way) const;

  Claim claim_;
  Wanted wanted_;
  Hold hold_;
  HoldRequests requests_;
  Line line_;
  std::string taken_;  ///< zset: id -> end of its lease
  std::string slots_;  ///< zset: which permits of rlock are taken, see permit_slots_key()
};

}  // namespace rlock
