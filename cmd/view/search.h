#pragma once

#include <set>

#include "cmd/server/session.h"

namespace rlock {

/// Keys that nobody has named.
struct FoundKeys {
  std::set<LockName> names;
  bool late = false;               ///< the time was over before the end
  bool too_many = false;           ///< there was no room for more names
  std::set<std::string> silent{};  ///< which of several servers could not be looked through, and why
};

/// Every key of which rlock has written something down: on each of several servers, on each primary of a
/// cluster, by SCAN, until the time is over. Only those with the prefix of the deployment.
/// Throws Error where fewer than a quorum of servers answer.
FoundKeys search_keys(Session& session, TimePoint until);

/// The same for keys that hold a number, whoever has written them:
/// semaphores, pools of permits and latches, and what other programs count.
FoundKeys search_numbers(Session& session, TimePoint until);

}  // namespace rlock
