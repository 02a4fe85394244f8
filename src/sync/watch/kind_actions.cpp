#include "sync/watch/kind_actions.h"

#include <algorithm>
#include <iterator>

#include "sync/kinds/lock.h"
#include "sync/kinds/permits.h"
#include "sync/kinds/plain.h"
#include "sync/kinds/read_write.h"

namespace rlock {
namespace {

/// A hold of which nobody knows whether it is a first one, or that of a fair lock.
class AnyHold final : public Lock {
 public:
  explicit AnyHold(const Claim& claim) : Lock(claim) {}
  Call release(const ReleaseOptions&) const override { return release_any(); }
};

std::unique_ptr<Lockable> any_hold(const Inspection&, const Holder&, const Claim& claim) {
  return std::make_unique<AnyHold>(claim);
}

std::unique_ptr<Lockable> read_or_write_hold(const Inspection&, const Holder& holder, const Claim& claim) {
  if (holder.mode == Holder::Mode::write) return std::make_unique<WriteLock>(claim);
  return std::make_unique<ReadLock>(claim);
}

std::unique_ptr<Lockable> plain_hold(const Inspection&, const Holder&, const Claim& claim) {
  return std::make_unique<PlainLock>(claim, Waitable::Pause{});
}

std::unique_ptr<Lockable> permits_hold(const Inspection& found, const Holder&, const Claim& claim) {
  const std::int64_t count = std::ranges::count(found.holders, claim.owner, &Holder::owner);
  return std::make_unique<Permits>(claim, Permits::Wanted{.count = count});
}

/// Nothing announces its release, so nothing has to be told how.
Call force_plain(const LockName& name, const Owner& token, PubSub) { return PlainLock::force(name, token); }

constexpr KindActions kActions[] = {
    {&kinds::lock, Lock::force, any_hold},    {&kinds::fair, Lock::force, any_hold},
    {&kinds::fenced, Lock::force, any_hold},  {&kinds::read_write, ReadWriteLock::force, read_or_write_hold},
    {&kinds::plain, force_plain, plain_hold}, {&kinds::semaphore},
    {&kinds::permit, nullptr, permits_hold},  {&kinds::latch},
};

}  // namespace

const KindActions& actions_of(const Kind& kind) {
  return *std::ranges::find(kActions, &kind, &KindActions::kind);
}

}  // namespace rlock
