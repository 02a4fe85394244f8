#include "cmd/hold/keep/guardian_release.h"

#include <algorithm>
#include <csignal>
#include <exception>

#include "base/log.h"
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
  ReleaseOptions options;
  const bool not_run = alone.ended && !alone.exit;
  const bool keep = !not_run && request.keeps_after(alone.exit);
  if (keep) options.keep_until = past.facts.since + request.kept_for();
  std::vector<Part> ending =
      keep ? keys.ending_kept(alone.exit.value_or(128 + SIGKILL), past) : keys.ending(keys.parts(), past);
  // If rlock was stopped, or the lease is over, the lock is lost. The same owner may have acquired it again elsewhere,
  // and a release would free this new hold.
  const auto returns = [&keys](const Part& part) { return keys.owner_returns(part); };
  if (!killed || now >= alone.good_until) std::erase_if(ending, returns);
  if (ending.empty()) return;
  // Nobody waits for us, so we try until the lease is over, which nothing renews now. But after that an owner that the
  // user named may have acquired the lock again, so such a release must not come late.
  const Milliseconds least = cleanup_time(ending.size());
  const Milliseconds time = killed && !keys.owner_returns() ? std::max(request.lease, least) : least;
  const WaitOptions retrying{.given = true};
  try {
    fill_std_descriptors();  // otherwise a message could be written to a server's socket
    Session session{request.deployment, retrying, request.quorum};
    if (guarded.elsewhere != nullptr && keys.owner_returns())
      ending = guarded.elsewhere->without_released(session.redis, ending, least);
    Patience patience = session.loop.within(time);
    if (std::ranges::any_of(ending, returns)) patience.until = earliest(patience.until, alone.good_until);
    const TimePoint least_until = plus(session.loop.now(), least);
    patience.interrupted = [&] { return session.signals.any() && session.loop.now() >= least_until; };
    // "Not ours" does not show a loss: rlock may have released before it was killed.
    static_cast<void>(release(session.redis, ending, options, patience));
    if (killed) Events::killed(request, past);
  } catch (const std::exception& error) {  // there is no one to tell: the lock ends with its lease
    debug(error.what());
  }
}

}  // namespace rlock
