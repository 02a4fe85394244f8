#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ancestry.h"
#include "base/key_text.h"
#include "base/names.h"
#include "cmd/cli/wait_options.h"
#include "cmd/hold/request/lock_types.h"
#include "cmd/hold/request/stop_rules.h"
#include "cmd/server/deployment.h"
#include "redis/quorum.h"
#include "sync/hold/lease.h"
#include "sync/wait/acquire_options.h"

namespace rlock {

/// Whether the hold of a process above us is joined (InheritedHold).
struct Joining {
  bool allowed = true;          ///< false: wait for it
  std::optional<Owner> inside;  ///< the owner whose hold must be joined, from an earlier step of a job
  std::string_view way{};  ///< how the user could have joined it; the end of the message about a deadlock
};

/// What the user wants others to know about the hold.
struct Remarks {
  std::string reason;
  std::map<std::string, std::string> labels;
};

/// One hold has at most this many keys, with this many bytes together.
constexpr std::size_t kMostKeys = 1000;
constexpr std::size_t kMostBytesOfKeys = std::size_t{64} * 1024;

/// The log of this system (--syslog without a socket).
constexpr std::string_view kSystemLog = "/dev/log";

/// What to hold and how: the part of the command line that `rlock run` and `rlock lock acquire` share. After
/// the verb has checked it, it has no contradictions.
struct HoldRequest {
  TimePoint started;  ///< start of rlock; waits count from here

  // What to acquire.
  std::vector<LockName> names;  ///< with the prefix; sorted, without duplicates
  const LockType* type = nullptr;
  TypeOptions type_options;

  // The owner.
  std::optional<Owner> owner;  ///< the owner that the user named
  bool again = false;          ///< --again: one more hold of that owner
  Joining joining;
  std::optional<ProcessId> script;  ///< the process of --while-pid

  // How long to wait, and for which servers.
  WaitOptions wait;
  Deployment deployment;  ///< resolved from the options
  Quorum quorum = Quorum::majority;
  SyncReplicas sync_replicas;
  bool give_up_on_deadlock = true;          ///< --on-deadlock
  std::optional<std::int64_t> queue_limit;  ///< if this many waiters are ahead of us, do not wait
  bool newest = false;                      ///< older waiters with --newest give up

  // How long to hold.
  Milliseconds lease = kDefaultLease;  ///< how long a holder that stopped renewing keeps the lock
  bool renew = true;
  Milliseconds good_for = kLongest;      ///< a grant that took longer would be over at once
  Milliseconds min_hold{0};              ///< the key stays at least this long after the acquire
  std::optional<Milliseconds> once_per;  ///< after a success, the key stays this long after the acquire
  Budget budget;
  StopRules stop;  ///< of the command or the script, if the lock is lost or a request comes

  /// Does the key stay after a command that ended with this status? Nothing: it was killed, or nobody knows.
  bool keeps_after(std::optional<int> exit) const {
    return once_per ? exit == 0 : min_hold > Milliseconds{0};
  }

  /// How long the key stays after the acquire; 0: it does not stay. Only one of --once-per and --min-hold can be set.
  Milliseconds kept_for() const { return once_per.value_or(min_hold); }

  // Reports.
  std::string events;  ///< a path, or the number of a descriptor; empty: none
  std::string syslog;  ///< the socket of a log, or kSystemLog; empty: none
  Remarks remarks;

  /// Plans how the time of the lease is spent. `lost_grace`: as typed. Throws Error{config} as plan_budget() does.
  void plan_time(std::optional<Milliseconds> lost_grace);

  /// Says where, and which keys: as typed. Then the request is complete. Throws Error{usage} if the type, --count,
  /// --fair-wait-timeout, --newest or --queue-limit contradict each other, other options or the number of servers.
  void complete(Deployment resolved, const std::vector<std::string>& keys);

  /// "'a', 'b'"
  std::string all_keys() const { return quoted(names); }
};

}  // namespace rlock
