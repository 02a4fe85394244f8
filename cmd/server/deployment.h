#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "cmd/server/server_options.h"
#include "redis/target.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/pub_sub.h"

namespace rlock {

/// Where locks live, resolved from all sources: flags, then
/// the environment, then the config files, then REDIS_URL.
struct Deployment {
  std::vector<Target> targets;  ///< several: a quorum
  Timeouts timeouts;
  std::string prefix;   ///< prepended to every key
  bool named = false;   ///< somebody said which server; else it is the default one
  bool history = true;  ///< whoever ends a hold writes down how
  bool typed = false;   ///< by options, which no other command sees

  /// The variables that make a nested rlock reach the same
  /// server, those without a value to be unset. Never a password.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;

  /// Are keys spread over the slots of a cluster?
  bool is_cluster() const { return targets.front().topology == Target::Topology::cluster; }

  /// What happens to who does not get a lock that is not fair.
  Turn turn(bool waits) const {
    if (targets.size() > 1) return Turn::no_places;
    return waits ? Turn::queue : Turn::leave;
  }

  PubSub pub_sub() const { return is_cluster() ? PubSub::sharded_too : PubSub::classic; }

  /// The full name of a key. Throws Error{usage}: 1 byte to 4 KiB, prefix included.
  LockName name(const std::string& key) const;
};

/// Variables that hold a password, the more important first.
constexpr std::array<const char*, 3> kPasswordVariables{"RLOCK_PASSWORD", "VALKEYCLI_AUTH", "REDISCLI_AUTH"};

/// Reads the environment and the config files, lets `flags` overrule them, asks for a password if told to,
/// and says on stderr which server it is when nobody named one.
/// Throws Error{usage} for values, Error{config} for what a config file or a password file says.
Deployment resolve(const ServerOptions& flags);

/// The longest key, prefix included.
constexpr std::size_t kLongestKey = 4096;

/// Takes a KEY as it is typed. Throws Error{usage} for one that is empty or too long.
Setter key_into(std::vector<std::string>& keys);
Setter key_into(std::string& key);

}  // namespace rlock
