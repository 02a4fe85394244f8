#pragma once

#include <vector>

#include "sync/kinds/lockable.h"

namespace rlock {

/// Waiting until several locks of any kind are free, all of them in one moment. Held: they were; nothing was
/// taken, so it may be over by now. A value: what its answers mean never changes.
class FreeWait final : public Waitable {
 public:
  /// REQUIRES: at least one name; in a cluster they lie in one slot.
  explicit FreeWait(std::vector<LockName> names) : names_(std::move(names)) {}

  using Waitable::ask;
  Call ask(Milliseconds waited) const override;
  std::optional<Call> undo(Wake) const override { return std::nullopt; }

  /// Where any kind of lock announces its releases: which kind somebody takes there next, nobody knows.
  std::vector<Channel> channels() const override;

  const LockName& name() const override { return names_.front(); }

 private:
  Attempt decode(const Reply& reply) const override;
  const LockName& named(const Reply& number) const;

  std::vector<LockName> names_;
};

}  // namespace rlock
