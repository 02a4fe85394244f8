#include "cmd/hold/keep/guardian_release.h"

#include <algorithm>
#include <csignal>
#include <exception>

#include "base/log.h"
#include "cmd/hold/keep/ending_hold.h"
#include "cmd/hold/report/events.h"
#include "cmd/server/session.h"
#include "process/std_descriptors.h"
#include "sync/hold/release.h"
#include "sync/wait/acquire.h"

namespace rlock {

void release_in_guardian(const HeldKeys& keys, const GuardedHold& guarded, const LeftAlone& alone,
                         TimePoint now) {
  const HoldRequest& request = keys.request();
  const bool killed = alone.how == RlockEnd::killed;
  const PastHold past =
      keys.past({.outcome = killed ? HoldOutcome::killed : HoldOutcome::lost,
                 .why = guarded.whom + (killed ? " was killed" : " was stopped, and could not renew it")},
                now);
  const bool not_run = alone.ended && !alone.exit;
  const bool keep = !not_run && request.keeps_after(alone.exit);
  // If rlock was stopped, or the lease is over, the lock is lost.
  const Lost lost = !killed || now >= alone.good_until ? Lost::yes : Lost::no;
  EndingHold ending = ending_hold(keys, keys.parts(), past,
                                  keep ? std::optional{alone.exit.value_or(128 + SIGKILL)} : std::nullopt,
                                  lost, alone.good_until);
  std::vector<Part>& parts = ending.parts;
  parts = ending.split().ours;
  if (parts.empty()) return;
  // Nobody waits for us, so we try until the lease is over, which nothing renews now.
  const Milliseconds least = cleanup_time(parts.size());
  const Milliseconds time = killed && !keys.owner_returns() ? std::max(request.lease, least) : least;
  const WaitOptions retrying{.given = true};
  try {
    fill_std_descriptors();  // otherwise a message could be written to a server's socket
    Session session{request.deployment, retrying, request.quorum};
    if (guarded.elsewhere != nullptr && keys.owner_returns())
      parts = guarded.elsewhere->without_released(session.redis, parts, least);
    Patience patience = session.loop.within(time);
    patience.until = earliest(patience.until, ending.latest());
    const TimePoint least_until = plus(session.now(), least);
    patience.interrupted = [&] { return session.signals.any() && session.now() >= least_until; };
    // "Not ours" does not show a loss: rlock may have released before it was killed.
    static_cast<void>(release(session.redis, parts, ending.options, patience));
    if (killed) Events::killed(request, past);
  } catch (const std::exception& error) {  // there is no one to tell: the lock ends with its lease
    debug(error.what());
  }
}

}  // namespace rlock
