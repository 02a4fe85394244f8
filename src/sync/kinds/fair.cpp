#include "sync/kinds/fair.h"

#include <algorithm>

#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/foreign.h"
#include "sync/calls/keys.h"
#include "sync/calls/renewal_interval.h"

namespace rlock {
namespace {

/// If a waiter has not asked for this many intervals, it counts as dead.
constexpr int kMissedBeforeDead = 2;

/// The head of the queue sleeps at most this long, because all waiters are stuck if its announcement is lost.
/// The other waiters ask only to show that they live, because the server tells a new head that it is first
/// (lua/shared/fair_queue/tell_new_head).
constexpr Milliseconds kHeadSleeps{2000};

constinit const LockBase::Form kFair{.wanted = &kinds::lock,
                                     .acquire = &scripts::fair_acquire,
                                     .acquire_inner = &scripts::lock_enter,
                                     .renew = &scripts::lock_renew,
                                     .release = &scripts::fair_release};

/// Redisson's default for fairLockWaitTimeout.
constexpr Milliseconds kTheirWaitTimeout{300000};

Milliseconds interval_of(const Claim& claim, std::optional<Milliseconds> wait_timeout) {
  const Milliseconds most = wait_timeout.value_or(kLongest) / kMissedBeforeDead;
  // A waiter asks as often as a holder renews, or more often if the wait timeout is short.
  return std::max(std::min(renewal_interval(claim.lease), most), Milliseconds{1});
}

Values values_of(const Claim& claim, IfBusy if_busy, std::optional<Milliseconds> wait_timeout) {
  Values all = queue_values(claim.name);
  const Milliseconds alive = interval_of(claim, wait_timeout) * kMissedBeforeDead;
  all.emplace_back(Parameter::alive_for, in_ms(if_busy == IfBusy::place ? alive : Milliseconds{0}));
  all.emplace_back(Parameter::theirs, in_ms(wait_timeout.value_or(kTheirWaitTimeout)));
  return all;
}

}  // namespace

FairLock::FairLock(const Claim& claim, IfBusy if_busy, Hold hold, std::optional<Milliseconds> wait_timeout)
    : Lock(claim, hold, kFair, values_of(claim, if_busy, wait_timeout)),
      if_busy_(if_busy),
      interval_(interval_of(claim, wait_timeout)) {}

Milliseconds FairLock::poll_every() const { return interval_; }

std::vector<Channel> FairLock::channels() const { return {own_channel(own_line().releases(), owner())}; }

HoldEntry FairLock::hold_entry() const {
  return {name().str(),
          owner().str(),
          {{Parameter::alive, value_of(queue_values(name()), Parameter::queue_alive)},
           {Parameter::waits, value_of(line_values(name()), Parameter::line_facts)}}};
}

/// A message means the same as in a line. Each waiter has a channel of its own, and "1 <rest>" tells it that it is
/// first now.
Line::Notice FairLock::read_notice(const Message& message, const Busy& busy) const {
  const Line* const line = Lock::line(busy);
  return line != nullptr ? line->read_notice(message, busy) : Line::Notice::reason();
}

AcquireAnswer FairLock::decode(const Reply& reply) const {
  if (hold() == Hold::inner) return Lock::decode(reply);
  const std::string word = word_of(reply);
  if (word == "foreign")
    return refuse_foreign(LockName{reply.at(2).text()}, kinds::fair.noun, reply.at(1).text());
  if (word != "busy") return Lock::decode(reply);
  Busy busy = decode_place(reply);
  if (busy.position == 1) busy.retry_after = std::min(busy.retry_after.value_or(kHeadSleeps), kHeadSleeps);
  return busy;
}

/// A release that frees the lock wakes the head of the queue, whatever options.wake says. An undo must do so,
/// too: the head was told "busy" while the undone acquire held the lock, and sleeps. The script first takes
/// us out of the queue, where a late copy of the acquire may have put us. So we do not wake ourselves.
Call FairLock::release_call(const ReleaseOptions& options, Way way) const {
  return Lock::release_call({.keep_until = options.keep_until, .wake = Wake::waiters}, way);
}

}  // namespace rlock
