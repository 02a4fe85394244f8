#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "cmd/server/server_options.h"
#include "process/environment.h"
#include "redis/connection/target.h"
#include "sync/calls/claim.h"
#include "sync/calls/pub_sub.h"

namespace rlock {

/// The servers with the locks, resolved from all sources in the order of settings.h. If none of them names a
/// server, REDIS_URL or the default counts.
struct Deployment {
  std::vector<Target> targets;  ///< several targets form a quorum
  Timeouts timeouts;
  std::string prefix;   ///< prepended to every key
  bool named = false;   ///< a source named the server; false: it is the default
  bool history = true;  ///< record how each hold ended
  bool typed = false;   ///< the command line tells the server, so other commands do not know it

  /// The variables that lead a nested rlock to the same server; those without a value must be unset. They
  /// contain no password.
  Variables environment;

  /// Is any server a Cluster, which spreads its keys over slots?
  bool has_cluster() const;

  /// Can one script have all these names? Only a Cluster that keeps them in several slots cannot.
  bool lie_together(const std::vector<LockName>& names) const;

  /// What a busy acquire of a lock that is not fair leaves behind.
  IfBusy if_busy(bool waits) const {
    if (targets.size() > 1) return IfBusy::no_places;
    return waits ? IfBusy::place : IfBusy::leave;
  }

  PubSub pub_sub() const { return has_cluster() ? PubSub::sharded_too : PubSub::classic; }

  /// The full name of a key. Throws Error{usage} if the key is empty, or the name has more than 4 KiB. Throws
  /// Error{config} if a Cluster cannot keep the names beside it in one slot.
  LockName name(const std::string& key) const;
};

/// The servers with all settings but the password; `all`: the merged sources. Remembers where each setting came from (base/as_given.h). Throws
/// Error{usage} for bad values, and for settings that contradict each other.
std::vector<Target> targets_in_force(const ServerOptions& flags, const std::vector<Settings>& sources,
                                     const ServerOptions& all);

/// Reads the environment and the config files, lets `flags` overrule them, and asks for a password with
/// --askpass. Throws as targets_in_force() does, and Error{config} for errors in a config file or a password file.
Deployment resolve(const ServerOptions& flags);

/// The longest key, prefix included.
constexpr std::size_t kLongestKey = 4096;

/// Throws Error{usage} if a KEY as typed is empty or too long.
void check_key(std::string_view key);

/// Tells the messages how a user types the keys of this deployment (base/key_text.h). Warns if no
/// source named a server.
void announce(const Deployment& deployment);

}  // namespace rlock
