#include "sync/kind.h"

#include <algorithm>

#include "scripts.h"
#include "sync/inspect.h"
#include "sync/keys.h"
#include "sync/lock.h"
#include "sync/permits.h"
#include "sync/plain.h"
#include "sync/read_write.h"

namespace rlock {
namespace {

using Layout = Kind::Layout;

/// A hold of which nobody knows whether it is a first one, or that of a fair lock.
class AnyHold final : public Lock {
 public:
  explicit AnyHold(Claim claim) : Lock(std::move(claim)) {}
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

constexpr Kind::Several kSeveralLocks[] = {{&scripts::lock_acquire, &scripts::multi_lock},
                                           {&scripts::quorum_lock_acquire, &scripts::quorum_multi_lock}};
constexpr Kind::Several kSeveralFair[] = {{&scripts::fair_acquire, &scripts::multi_fair}};
constexpr Kind::Several kSeveralFenced[] = {{&scripts::fenced_acquire, &scripts::multi_fenced}};
constexpr Kind::Several kSeveralReadWrite[] = {
    {&scripts::read_acquire, &scripts::multi_read},
    {&scripts::write_acquire, &scripts::multi_write},
    {&scripts::quorum_read_acquire, &scripts::quorum_multi_read},
    {&scripts::quorum_write_acquire, &scripts::quorum_multi_write}};
constexpr Kind::Several kSeveralPlain[] = {{&scripts::plain_acquire, &scripts::multi_plain}};

}  // namespace

constinit const Kind kinds::lock{.name = "lock",
                                 .noun = "a lock",
                                 .stored_as = "lock",
                                 .layout = Layout::owners,
                                 .remedy = "take it with --type lock, fair, fenced or spin",
                                 .channel = lock_channel,
                                 .force = Lock::force,
                                 .hold = any_hold,
                                 .several = kSeveralLocks};

constinit const Kind kinds::fair{.name = "fair",
                                 .noun = "a fair lock",
                                 .stored_as = "lock",
                                 .layout = Layout::owners,
                                 .as_found = "a lock",
                                 .like = &kinds::lock,
                                 .channel = lock_channel,
                                 .force = Lock::force,
                                 .hold = any_hold,
                                 .several = kSeveralFair};

constinit const Kind kinds::fenced{.name = "fenced",
                                   .noun = "a fenced lock",
                                   .stored_as = "lock",
                                   .layout = Layout::owners,
                                   .as_found = "a lock",
                                   .like = &kinds::lock,
                                   .channel = lock_channel,
                                   .force = Lock::force,
                                   .hold = any_hold,
                                   .several = kSeveralFenced};

constinit const Kind kinds::read_write{.name = "read-write",
                                       .noun = "a read/write lock",
                                       .stored_as = "read-write",
                                       .layout = Layout::readers_and_writers,
                                       .remedy = "take it with --write (-x) or --read (-s)",
                                       .channel = read_write_channel,
                                       .force = ReadWriteLock::force,
                                       .hold = read_or_write_hold,
                                       .several = kSeveralReadWrite};

constinit const Kind kinds::plain{.name = "plain",
                                  .noun = "a plain token lock",
                                  .stored_as = "string",
                                  .layout = Layout::token,
                                  .as_stored = "text, perhaps a plain token lock",
                                  .remedy = "take that with --type plain",
                                  .force = force_plain,
                                  .hold = plain_hold,
                                  .several = kSeveralPlain};

constinit const Kind kinds::semaphore{.name = "semaphore",
                                      .noun = "a semaphore",
                                      .stored_as = "number",
                                      .layout = Layout::number,
                                      .as_stored = "a number (a semaphore, a pool of permits, a latch)",
                                      .as_found = "a number: a semaphore, perhaps",
                                      .channel = permits_channel};

constinit const Kind kinds::permit{.name = "permit",
                                   .noun = "a pool of permits",
                                   .stored_as = "number",
                                   .layout = Layout::number,
                                   .like = &kinds::semaphore,
                                   .channel = permits_channel,
                                   .hold = permits_hold};

constinit const Kind kinds::latch{.name = "latch",
                                  .noun = "a latch",
                                  .stored_as = "number",
                                  .layout = Layout::number,
                                  .as_stored = "a count-down latch",
                                  .channel = latch_channel};

std::span<const Kind* const> all_kinds() {
  static constexpr const Kind* kAll[] = {&kinds::lock,  &kinds::fair,      &kinds::fenced, &kinds::read_write,
                                         &kinds::plain, &kinds::semaphore, &kinds::permit, &kinds::latch};
  return kAll;
}

const Kind* kind_stored_as(std::string_view word) {
  const auto found = std::ranges::find(all_kinds(), word, &Kind::stored_as);
  return found == all_kinds().end() ? nullptr : *found;
}

const Script* script_for_several(const Script* one) {
  for (const Kind* kind : all_kinds()) {
    const auto found = std::ranges::find(kind->several, one, &Kind::Several::one);
    if (found != kind->several.end()) return found->all;
  }
  return nullptr;
}

}  // namespace rlock
