#include "sync/kinds/fair.h"

#include <fmt/format.h>

#include <algorithm>

#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/foreign.h"
#include "sync/kinds/kind.h"

namespace rlock {
namespace {

/// As the Keeper: a waiter shows that it lives as often as a holder does.
constexpr int kRenewalsPerLease = 3;

/// A waiter that has not asked for so many of these intervals is taken for dead.
constexpr int kMissedBeforeDead = 2;

/// How long the head of the queue sleeps at most: its announcement may be lost, and everybody waits for it. The others ask only
/// to show that they live: who becomes the head is told (lua/shared/tell_new_head).
constexpr Milliseconds kHeadSleeps{2000};

}  // namespace

Milliseconds FairLock::poll_every() const {
  return std::max(claim().lease / kRenewalsPerLease, Milliseconds{1});
}

std::string FairLock::announcement() const { return lock_channel(name()).str(); }

std::vector<Channel> FairLock::channels() const { return {Channel{announcement() + ":" + owner().str()}}; }

/// As in a line: each place has a channel of its own, and "1 <rest>" says that we are the first now.
Line::Heard FairLock::hear(const Message& message, const Busy& busy) const {
  const Line* const line = Lock::line(busy);
  return line != nullptr ? line->hear(message, busy) : Line::Heard::reason();
}

Call FairLock::ask(Milliseconds waited) const {
  if (hold() == Hold::another) return Lock::ask(waited);
  const Milliseconds patience = turn_ == Turn::queue ? poll_every() * kMissedBeforeDead : Milliseconds{0};
  Call call{.script = &scripts::fair_acquire,
            .keys = {name().str()},
            .args = {owner().str(), number(claim().lease), number(patience), announcement(),
                     word(claim().pub_sub), number(kRequestMemory)}};
  append(call.keys, queue_keys());
  if (requests().counts_acquire()) call.keys.push_back(requests().acquire());
  return call;
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

/// The head of the queue is always woken: while our acquire held the lock, it was told "busy".
std::optional<Call> FairLock::undo(Wake) const { return Lock::undo(Wake::waiters); }

/// The head of the queue is always woken: a holder has no place in the queue, so it is never the head itself.
Call FairLock::release_call(const ReleaseOptions& options, Way way) const {
  Call call = Lock::release_call({.keep_until = options.keep_until, .wake = Wake::waiters}, way);
  call.script = &scripts::fair_release;  // leaves the queue, too, where a late copy of ask() may have put us
  return call;
}

}  // namespace rlock
