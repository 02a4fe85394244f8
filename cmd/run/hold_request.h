#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ancestry.h"
#include "base/key_text.h"
#include "base/names.h"
#include "cmd/cli/wait_options.h"
#include "cmd/run/lock_types.h"
#include "cmd/server/deployment.h"
#include "sync/hold/lease.h"
#include "sync/wait/acquire_options.h"

namespace rlock {

/// What is to be held, and how: the part of the command line that `rlock run` and `rlock lock acquire` share.
/// Nothing in it contradicts anything else once the verb has checked it.
struct HoldRequest {
  TimePoint started;  ///< of rlock: waits are counted from here

  // What to take.
  std::vector<std::string> keys;  ///< as typed
  std::vector<LockName> names;    ///< with the prefix; sorted, each once
  const LockType* type = nullptr;
  std::optional<std::int64_t> permits;  ///< of --type permit: the size of the pool
  std::int64_t count = 1;               ///< of --type permit: how many to take

  // Who takes it.
  std::optional<Owner> owner;       ///< as the user has named it
  bool again = false;               ///< one more hold of that owner
  bool joins = true;                ///< a hold of a process above us is joined; else it is only waited for
  std::optional<Owner> inside;      ///< whose hold has to be joined: that of an earlier step of a job
  std::string_view way_to_join{};   ///< how the user could have joined it: ends the message about a deadlock
  std::optional<ProcessId> script;  ///< which --while-pid names

  // How long to wait, where.
  WaitOptions wait;
  ServerOptions server;   ///< as typed
  Deployment deployment;  ///< as resolved
  bool quorum_all = false;
  std::int64_t sync_replicas = 0;
  Milliseconds sync_timeout{1000};
  std::optional<Waitable::Pause> backoff;
  std::optional<Waitable::Pause> default_backoff;  ///< for the types that poll
  bool give_up_on_deadlock = true;                 ///< --on-deadlock
  std::optional<Milliseconds> fair_wait_timeout;   ///< of --type fair: Redisson's setting of that name
  std::optional<std::int64_t> queue_limit;  ///< so many waiters ahead of us are enough: then we do not wait
  bool newest = false;                      ///< older waiters that have said so, too, give up

  // How long to hold.
  Milliseconds lease{30000};  ///< how long a silent holder keeps the lock
  bool renew = true;
  Milliseconds good_for = kLongest;      ///< granted later than this, it would be over at once
  Milliseconds min_hold{0};              ///< the key stays at least this long after the acquire
  std::optional<Milliseconds> once_per;  ///< after a success the key stays so long after the acquire
  Budget budget;

  /// How long the key stays after the acquire, where it does: never both of them.
  Milliseconds kept_for() const { return once_per.value_or(min_hold); }

  // How those are stopped for whom it is held.
  bool stop_on_loss = true;  ///< --on-lost
  int signal = 15;
  Milliseconds kill_after{5000};  ///< between signal and KILL when somebody asks them to end

  // What to tell.
  std::function<void(const Waiting&)> hears_wait{};  ///< what the waiter sees; null: nobody is told
  std::string reason;
  std::map<std::string, std::string> labels;

  /// Makes `names` of `keys`. REQUIRES: the deployment is resolved.
  void complete_names();

  /// "'a', 'b'"
  std::string all_keys() const { return quoted(names); }
};

}  // namespace rlock
