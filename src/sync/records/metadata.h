#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/calls/lockable.h"
#include "sync/calls/values.h"

namespace rlock {

/// A held key and its owner.
struct OuterHold {
  LockName key;
  Owner owner;
};

/// What people want to know about a holder. The holder writes it to a hash of rlock's own beside the lock, in
/// a separate call whose failure does no harm. Waiters and commands such as inspect read it.
struct Metadata {
  std::string host{};
  std::string user{};
  std::string command{};  ///< its name; with --show-args its arguments, too, which may hold secrets
  std::int64_t pid = 0;
  std::string type{};                     ///< the type of its lock, if the key alone does not tell it
  std::optional<std::int64_t> started{};  ///< start time of that process: see ProcessId
  std::string pid_space{};                ///< see pid_space(); empty in the records of older versions
  std::optional<std::string> reason{};
  std::map<std::string, std::string> labels{};
  std::optional<std::string> url{};  ///< URL of the CI job
  /// False: the hold ends with its lease, even if the holder lives.
  bool renews = true;
  std::vector<OuterHold> holds{};            ///< holds of its outer runs; deadlock detection uses them
  std::optional<Milliseconds> kill_after{};  ///< --kill-after; set if the holder can be asked to stop
  /// The lease of its acquire, if a renewal has given a permit another one.
  std::optional<Milliseconds> first_lease{};
  std::optional<int> exit{};  ///< exit status of the command, if only an option still keeps the key
  std::string kept_by{};      ///< the name of that option: "--min-hold"

  // The script fills these in.
  ServerTime since{};
  ServerTime renewed{};
  Milliseconds lease{0};
  std::optional<ServerTime> ended_at{};
  bool inner = false;  ///< they are those of a run inside another hold of the same owner
};

/// The memory of its texts, in bytes.
std::size_t bytes_of(const Metadata& facts);

/// The metadata of this process. `command` is a path or a name. The CI job's URL comes from the environment.
Metadata about_us(std::string_view command);

/// Does this record name a living process above us? A process on another host or in another container does not
/// count, nor does a later process with the same number. A record without its pid space names no ancestor.
bool names_ancestor(const Metadata& facts);

/// Records `facts` for `lease`, if the entry shows that this owner holds or waits. Write it behind an acquire, also
/// behind one that has to wait, behind a renewal, or behind a release that keeps the key (facts.exit). The facts of an
/// inner hold do not replace those of the hold around it, as long as that one lasts.
Call write_metadata(const LockName& name, const Owner& owner, const HoldEntry& entry, Milliseconds lease,
                    const Metadata& facts, Hold hold = Hold::first);

/// Erases the facts, unless the entry shows that this owner still holds. Write it behind a release. `end`:
/// the end of the hold, for the history; empty: nothing is recorded there.
Call erase_metadata(const LockName& name, const Owner& owner, const HoldEntry& entry, Values end = {});

/// Erases the facts of all holders of a pool. Write it behind a call that has deleted the pool.
Call erase_all_metadata(const LockName& pool);

/// The facts. Empty: their holder has ended and kept the key for as long as it wanted. An inner hold, whose facts have not
/// replaced them yet, has the key now.
std::optional<Metadata> of_present_holder(Metadata facts, ServerTime now);

/// Parses metadata. Any client may have written it, so members that have another type are left out. Empty: it
/// is no JSON object. The texts are not sanitized: sanitize them before you show them on a terminal.
std::optional<Metadata> parse_metadata(std::string_view json);

}  // namespace rlock
