#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "cmd/server/session.h"

namespace rlock {

/// Why a search was cut short.
enum class CutShort {
  late,      ///< the time was over
  too_many,  ///< there is no memory for all keys
};

/// The keys that a search has found (as opposed to keys that the user named).
struct FoundKeys {
  std::set<LockName> names;
  std::optional<CutShort> cut_short{};
  std::set<std::string> silent{};   ///< the servers or shards that could not be searched, and why
  bool shard_missing = false;       ///< `silent` has a shard, so its keys are missing
  std::optional<Failure> unread{};  ///< why some keys, at least one, could not be asked about
};

/// The keys to search for.
enum class SearchFor {
  facts,    ///< keys with metadata of rlock
  numbers,  ///< keys with a number: semaphores, pools, latches, and counters of other programs
  all,      ///< facts, numbers, and hashes that look like a lock
};

/// How far a search is.
struct SearchProgress {
  std::size_t steps = 0;  ///< about a thousand keys each
  std::size_t found = 0;

  std::string text() const;  ///< "searched about 12,000 keys, found 3"
};

struct SearchOptions {
  /// The most memory for names, in bytes, which is enough for 50,000. No server may fill our memory (CutShort::too_many).
  std::size_t most_bytes = 8U << 20;

  SearchFor what = SearchFor::facts;
  TimePoint until{};
  std::function<bool(const LockName&)> wanted = [](const LockName&) { return true; };

  /// If some shards of a Cluster cannot be searched, return the names of the others.
  bool without_shards = false;

  /// Called after each step.
  std::function<void(const SearchProgress&)> progress = [](const SearchProgress&) {};

  /// Turns the loop once, until the given time at most; a caller with other work does it here. Null: the
  /// search turns the loop, and throws EndedBySignal if a signal ends the wait.
  std::function<void(TimePoint until)> turn{};
};

/// Searches each server, or each primary of a Cluster, for keys with the prefix of the deployment. It uses
/// SCAN in steps of about a millisecond, until the time is over. Throws Error if fewer than a quorum of
/// servers answer.
FoundKeys search(Session& session, const SearchOptions& options);

}  // namespace rlock
