#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/reply.h"
#include "sync/wait/wish.h"
#include "sync/watch/metadata.h"

namespace rlock {

/// How a hold ended.
struct HoldEnd {
  /// As the status record of a run has it (ran, max-hold, stopped, lost, not-started, interrupted, ...), or
  /// killed: rlock was; released: by its owner, who was no run; removed: by force.
  std::string outcome;
  std::optional<int> exit{};         ///< of the command
  std::optional<int> signal{};       ///< that ended it
  std::optional<std::string> why{};  ///< for a person; stopped, removed: "alice@ops: stuck since noon"
};

/// A hold that has ended, as the history of its key tells it. Written by whoever ends it, in the same write as
/// the release: a history that cannot be written hinders no release.
struct PastHold {
  std::string type;                      ///< "lock", "read", "permit", ...
  Metadata facts{};                      ///< who; with `since`, when it was acquired
  std::optional<Milliseconds> waited{};  ///< for it, where that is known
  Milliseconds ended{0};                 ///< when, by the server's clock
  HoldEnd end{};
  Owner owner{};  ///< filled in by the reader

  Milliseconds held() const { return std::max(ended - facts.since, Milliseconds{0}); }
};

/// When the end of a hold is written.
enum class WriteEnd {
  always,       ///< the command has ended, whoever keeps the key
  if_it_ended,  ///< if nobody holds as this owner any more, and its metadata tells that somebody did
};

/// erase_metadata(), which also writes this into the history. A hold has one end: that which came first.
Call write_end(const LockName& name, const Owner& owner, const Evidence& evidence, const PastHold& past,
               WriteEnd when);

/// The same parts: their releases write `past`, each for its own owner. Parts without metadata, which are
/// holds inside others, stay as they are.
std::vector<Part> with_history(std::vector<Part> parts, const PastHold& past);

/// At most so many are kept.
constexpr std::int64_t kLongestHistory = 20;

/// The last holds, at most `most`.
Call ask_history(const LockName& name, std::int64_t most);

struct History {
  Milliseconds now{0};          ///< the server's time
  std::vector<PastHold> holds;  ///< the newest first
};

/// Whoever has written it need not have been an rlock: what is no entry is left out. The texts are as they
/// came: sanitize them before a terminal sees them.
History read_history(const Reply& reply);

}  // namespace rlock
