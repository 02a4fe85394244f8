#include "sync/watch/kind_actions.h"

#include <algorithm>

#include "sync/kinds/lock.h"
#include "sync/kinds/permit_lock.h"
#include "sync/kinds/plain.h"
#include "sync/kinds/read_write.h"

namespace rlock {
namespace {

/// Only an inner hold is named by its request.
Hold hold_of(const Claim& claim) { return claim.request.empty() ? Hold::found : Hold::inner; }

/// A hold of a lock that may be fair. Without a request, it may be a first or an inner hold.
class AnyHold final : public Lock {
 public:
  explicit AnyHold(const Claim& claim) : Lock(claim, hold_of(claim)) {}
  Call release(const ReleaseOptions&) const override { return release_any(); }
};

std::unique_ptr<Lockable> any_hold(const Inspection&, const Holder&, const Claim& claim) {
  return std::make_unique<AnyHold>(claim);
}

std::unique_ptr<Lockable> read_or_write_hold(const Inspection&, const Holder& holder, const Claim& claim) {
  if (holder.mode == Holder::Mode::write) return std::make_unique<WriteLock>(claim, hold_of(claim));
  return std::make_unique<ReadLock>(claim, hold_of(claim));
}

std::unique_ptr<Lockable> plain_hold(const Inspection&, const Holder&, const Claim& claim) {
  return std::make_unique<PlainLock>(claim, Waitable::Pause{}, hold_of(claim));
}

std::unique_ptr<Lockable> permits_hold(const Inspection& found, const Holder&, const Claim& claim) {
  const std::int64_t count = std::ranges::count(found.holders, claim.owner, &Holder::owner);
  return std::make_unique<PermitLock>(claim, PermitLock::Wanted{.count = count}, hold_of(claim));
}

/// PlainLock::force() without the third argument of Lock::force(), because the release of a plain lock is not
/// announced.
Call force_plain(const LockName& name, const Owner& token, PubSub) { return PlainLock::force(name, token); }

/// In the order of kinds::all.
constexpr KindActions kActions[] = {
    {.kind = &kinds::lock, .force = Lock::force, .hold = any_hold},
    {.kind = &kinds::fair, .force = Lock::force, .hold = any_hold},
    {.kind = &kinds::fenced, .force = Lock::force, .hold = any_hold},
    {.kind = &kinds::read_write, .force = ReadWriteLock::force, .hold = read_or_write_hold},
    {.kind = &kinds::plain, .force = force_plain, .hold = plain_hold},
    {.kind = &kinds::semaphore},
    {.kind = &kinds::permit, .hold = permits_hold},
    {.kind = &kinds::latch},
};

constexpr bool is_row_of(const KindActions& actions, const Kind& kind) { return actions.kind == &kind; }
static_assert(std::ranges::equal(kActions, kinds::all, is_row_of));

}  // namespace

const KindActions& actions_of(const Kind& kind) { return kActions[&kind - kinds::all]; }

}  // namespace rlock
