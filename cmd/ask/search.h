#pragma once

#include <functional>
#include <set>

#include "cmd/server/session.h"

namespace rlock {

/// The keys that a search has found (as opposed to keys that the user named).
struct FoundKeys {
  std::set<LockName> names;
  bool late = false;      ///< the time was over before the end
  bool too_many = false;  ///< there was no room for more names
  std::set<std::string>
      silent{};                ///< which of several servers or shards could not be looked through, and why
  bool shard_missing = false;  ///< one of `silent` is a shard, whose keys are not among the names
};

/// What a search looks for.
enum class SearchFor {
  facts,    ///< keys of which rlock has written something down
  numbers,  ///< keys that hold a number, of any program: semaphores, pools of permits and latches,
            ///< and what other programs count
  all,      ///< facts, and what is recognized by its content: these, and locks of every kind
};

struct SearchOptions {
  /// The names that are kept take at most this much memory, enough for 50,000 names: no server may fill our memory.
  std::size_t most_bytes = 8U << 20;

  SearchFor what = SearchFor::facts;
  TimePoint until{};
  std::function<bool(const LockName&)> wanted = [](const LockName&) { return true; };

  /// If some shards of a Cluster cannot be looked through, the names on the others are an answer too.
  bool without_shards = false;

  /// Told after each step how many steps there were, each through about a thousand keys, and how many keys
  /// were found.
  std::function<void(std::size_t steps, std::size_t found)> progress = [](std::size_t, std::size_t) {};

  /// Turns the loop once, until then at the latest; a caller that has more to do meanwhile does it here.
  /// Null: the search turns the loop, and throws EndedBySignal if a signal ends the wait.
  std::function<void(TimePoint until)> turn{};
};

/// Searches each of several servers, or each primary of a cluster, for keys with the prefix of the
/// deployment. It uses SCAN in steps that take a server less than a millisecond, until the time is over.
/// Throws Error if fewer than a quorum of servers answer.
FoundKeys search(Session& session, const SearchOptions& options);

}  // namespace rlock
