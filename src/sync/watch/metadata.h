#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/kinds/lockable.h"
#include "sync/kinds/values.h"

namespace rlock {

/// A key that somebody holds, and as whom.
struct HeldKey {
  LockName key;
  Owner owner;
};

/// What people want to know about a holder. Written by it, in a hash of rlock's own beside the lock, in a
/// call of its own whose failure harms nobody; read by whoever waits or looks.
struct Metadata {
  std::string host{};
  std::string user{};
  std::string command{};  ///< its name; arguments hold secrets
  std::int64_t pid = 0;
  std::string type{};                     ///< of its lock, where what stands under the key does not tell
  std::optional<std::int64_t> started{};  ///< when that process was: see ProcessId
  std::optional<std::string> reason{};
  std::map<std::string, std::string> labels{};
  std::optional<std::string> url{};          ///< of the CI job
  bool renews = true;                        ///< else it ends with its lease, whether or not its holder lives
  std::vector<HeldKey> holds{};              ///< of the runs above it: who waits for it may wait for itself
  std::optional<Milliseconds> kill_after{};  ///< it can be asked to stop: so long after the signal comes KILL
  std::optional<int> exit{};  ///< how the command ended, when nothing but an option keeps the key
  std::string kept_by{};      ///< that option: "--min-hold"

  // Filled in by the server's script, by its clock, in milliseconds since the epoch.
  Milliseconds since{0};
  Milliseconds renewed{0};
  Milliseconds lease{0};
  std::optional<Milliseconds> ended_at{};
};

/// Who we are, for `command` (a path or a name) and with the CI job's address as the environment tells it.
Metadata about_us(std::string_view command);

/// Writes `facts` down for `lease`, if the evidence shows that this owner holds. For the same write as an
/// acquire, a renewal, or (facts.exit) a release that keeps the key.
Call write_metadata(const LockName& name, const Owner& owner, const Evidence& evidence, Milliseconds lease,
                    const Metadata& facts);

/// For the same write as a release: does nothing while the evidence shows that this owner still holds.
/// `end`: how the hold has ended, for the history; empty: nothing is written there.
Call erase_metadata(const LockName& name, const Owner& owner, const Evidence& evidence, Values end = {});

/// Reads what somebody wrote, who need not have been an rlock:
/// what is not as expected is left out. Nothing: no facts at all.
/// The texts are as they came: sanitize them before a terminal sees them.
std::optional<Metadata> parse_metadata(std::string_view json);

}  // namespace rlock
