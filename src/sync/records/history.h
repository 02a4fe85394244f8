#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/reply.h"
#include "redis/vote.h"
#include "sync/records/hold_outcome.h"
#include "sync/records/metadata.h"
#include "sync/wait/acquire_request.h"

namespace rlock {

/// How a hold ended.
struct HoldEnd {
  HoldOutcome outcome = HoldOutcome::unknown;
  std::optional<int> exit{};         ///< the exit status of the command
  std::optional<int> signal{};       ///< the signal that ended the command
  std::optional<std::string> why{};  ///< for people; if stopped or removed: "alice@ops: stuck since noon"
  std::string other_word{};          ///< if the outcome is unknown: its word in the history

  std::string_view word() const { return outcome == HoldOutcome::unknown ? other_word : text_of(outcome); }
};

/// A hold that has ended, as the history of its key records it. The client that ends the hold records it, in
/// the same write as the release. If it cannot be recorded, the release succeeds all the same.
struct PastHold {
  std::string type;                      ///< "lock", "read", "permit", ...
  Metadata facts{};                      ///< the holder's metadata; `since` is the time of the acquire
  std::optional<Milliseconds> waited{};  ///< how long it waited for the lock; empty: unknown
  ServerTime ended{};                    ///< the end of the hold
  HoldEnd end{};
  Owner owner{};  ///< set by read_history()

  Milliseconds held() const { return std::max(ended - facts.since, Milliseconds{0}); }
};

/// When the end of a hold is recorded.
enum class WriteEnd {
  always,       ///< always, because the command has ended, even if the key stays
  if_it_ended,  ///< only if this owner does not hold any more, but its metadata shows that it did
};

/// Like erase_metadata(), but also records `past` in the history, unless the end of this hold is recorded
/// there already.
Call write_end(const LockName& name, const Owner& owner, const HoldEntry& entry, const PastHold& past,
               WriteEnd when);

/// The same parts, but their releases record `past`, each for its own owner: write_end() replaces erase_metadata().
/// Parts that join another hold stay as they are. REQUIRES: no release has other followers yet.
std::vector<Part> with_history(std::vector<Part> parts, const PastHold& past, WriteEnd when);

/// The history keeps at most this many holds.
constexpr std::int64_t kLongestHistory = 20;

/// Asks for the last holds, at most `most`.
Call ask_history(const LockName& name, std::int64_t most);

struct History {
  ServerTime now{};
  std::vector<PastHold> holds;  ///< the newest first
};

/// Entries that cannot be read are left out, because any client may write to the history. The texts are not
/// sanitized: sanitize them before you show them on a terminal.
History read_history(const Reply& reply);

/// The history in a vote. Empty: there is none, because the server gave no answer, or one of another shape.
std::optional<History> history_in(const Vote& vote);

}  // namespace rlock
