#pragma once

#include <string>

#include "cmd/hold/keys/held_keys.h"
#include "cmd/hold/keys/released_elsewhere.h"
#include "family/guardian_loop.h"

namespace rlock {

/// What a guardian knows of the process that it guards.
struct GuardedHold {
  std::string whom;  ///< for the history: "rlock", "the keeper of the script"

  /// Null: nobody else releases keys of this hold and acquires them again. Otherwise keys that were released are left
  /// alone, because the next hold may have the same owner.
  const ReleasedElsewhere* elsewhere = nullptr;
};

/// Called in a guardian after rlock was killed or stopped, and the processes of the command or script have ended.
/// Releases the keys over new connections. With --min-hold, which only a run has, keeps all keys instead, unless the
/// command was not started, or rlock stop stopped it. With --once-per it releases the key, so that the next host may
/// try, unless the command has ended with status 0. If the lock has another owner by now, nothing changes. Neither does
/// anything if rlock has released: both send the same request. Behind the lease, keys of an owner that the user named
/// are left alone. If the servers do not answer, tries until the lease is over. A signal ends that, but not within
/// cleanup_time(), which is all the time there is if the user named the owner or rlock was stopped.
///
/// If rlock was killed, reports this to --events and --syslog, unless no key is left to release, or no session can be
/// made. If rlock was stopped, rlock reports the end when it goes on.
void release_in_guardian(const HeldKeys& keys, const GuardedHold& guarded, const LeftAlone& alone,
                         TimePoint now);

}  // namespace rlock
