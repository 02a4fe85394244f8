#include "sync/kinds/fair.h"

#include <fmt/format.h>

#include <algorithm>

#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/foreign.h"
#include "sync/kinds/keys.h"

namespace rlock {
namespace {

/// If a waiter has not asked for this many intervals, it counts as dead.
constexpr int kMissedBeforeDead = 2;

/// The head of the queue sleeps at most this long: if its announcement is lost, all waiters are stuck. Other
/// waiters ask only to show that they live: the server tells a new head (lua/shared/queue/tell_new_head).
constexpr Milliseconds kHeadSleeps{2000};

constinit const LockBase::Form kFair{&kinds::lock, &scripts::fair_acquire, &scripts::lock_enter,
                                     &scripts::lock_renew, &scripts::fair_release};

/// Redisson's default for fairLockWaitTimeout.
constexpr Milliseconds kTheirWaitTimeout{300000};

Milliseconds interval_of(const Claim& claim, std::optional<Milliseconds> wait_timeout) {
  const Milliseconds most = wait_timeout.value_or(kLongest) / kMissedBeforeDead;
  // A waiter shows that it lives as often as a holder does.
  return std::max(std::min(renewal_interval(claim.lease), most), Milliseconds{1});
}

Values values_of(const Claim& claim, Turn turn, std::optional<Milliseconds> wait_timeout) {
  Values all = queue_values(claim.name);
  const Milliseconds alive = interval_of(claim, wait_timeout) * kMissedBeforeDead;
  all.emplace_back(Parameter::patience, number(turn == Turn::queue ? alive : Milliseconds{0}));
  all.emplace_back(Parameter::theirs, number(wait_timeout.value_or(kTheirWaitTimeout)));
  return all;
}

}  // namespace

FairLock::FairLock(const Claim& claim, Turn turn, Hold hold, std::optional<Milliseconds> wait_timeout)
    : Lock(claim, hold, kFair, values_of(claim, turn, wait_timeout)),
      turn_(turn),
      interval_(interval_of(claim, wait_timeout)) {}

Milliseconds FairLock::poll_every() const { return interval_; }

std::vector<Channel> FairLock::channels() const {
  return {Channel{own_line().releases().str() + ":" + owner().str()}};
}

HoldEntry FairLock::hold_entry() const {
  return {name().str(), owner().str(), {fair_queue_keys(name()).back(), line_keys(name()).back()}};
}

/// Works as in a line: each waiter has a channel of its own, and "1 <rest>" says that this waiter is first
/// now.
Line::Notice FairLock::read_notice(const Message& message, const Busy& busy) const {
  const Line* const line = Lock::line(busy);
  return line != nullptr ? line->read_notice(message, busy) : Line::Notice::reason();
}

Attempt FairLock::decode(const Reply& reply) const {
  if (hold() == Hold::another) return Lock::decode(reply);
  const std::string word = word_of(reply);
  if (word == "foreign")
    return refuse_foreign(LockName{reply.at(2).text()}, kinds::fair.noun, reply.at(1).text());
  if (word != "busy") return Lock::decode(reply);
  Busy busy = decode_place(reply);
  if (busy.position == 1) busy.retry_after = std::min(busy.retry_after.value_or(kHeadSleeps), kHeadSleeps);
  return busy;
}

/// The release always wakes the head of the queue. A holder has no place in the queue, so it never wakes
/// itself. An undo wakes the head, too: it was told "busy" while the undone acquire held the lock, and sleeps.
/// The script also leaves the queue, because a late copy of the acquire may have put us there.
Call FairLock::release_call(const ReleaseOptions& options, Way way) const {
  return Lock::release_call({.keep_until = options.keep_until, .wake = Wake::waiters}, way);
}

}  // namespace rlock
