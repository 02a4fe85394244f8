#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sync/calls/lockable.h"

namespace rlock {

/// Waits until several locks of any kind are free in the same moment. Held: they were free, but nothing was
/// acquired, so they may be busy again by now. An immutable value.
class FreeWait final : public Waitable {
 public:
  /// REQUIRES: at least one name; in a Cluster, all names share one slot.
  explicit FreeWait(std::vector<LockName> names) : names_(std::move(names)) {}

  std::optional<Call> undo(Wake) const override { return std::nullopt; }

  /// The channels of each kind of lock that announces its releases. A key that is free now may be locked as
  /// any kind next time.
  std::vector<Channel> channels() const override;

  const LockName& name() const override { return names_.front(); }

 private:
  Call encode(Milliseconds waited) const override;
  AcquireAnswer decode(const Reply& reply) const override;
  const LockName& named(const Reply& number) const;

  std::vector<LockName> names_;
};

}  // namespace rlock
