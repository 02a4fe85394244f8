#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "sync/calls/kind.h"
#include "sync/records/history.h"
#include "sync/records/metadata.h"

namespace rlock {

/// A holder, according to the server and the holder's own metadata.
struct Holder {
  enum class Mode { exclusive, read, write, permit };

  Owner owner;  ///< of a permit with an unknown owner: its id in hexadecimal
  Mode mode = Mode::exclusive;
  std::int64_t count = 1;           ///< number of holds of this owner
  std::optional<Milliseconds> ttl;  ///< time until the hold expires unless renewed; empty: it never expires
  std::optional<std::int64_t> fence;
  std::string permit;                ///< the 16 bytes of the permit's id
  std::optional<std::int64_t> slot;  ///< slot of one of rlock's permits
  std::optional<Metadata> facts;     ///< empty: the holder is not rlock, or could not write it

  /// Does the holder live? Empty: unknown.
  std::optional<bool> alive(ServerTime now) const;

  /// May a run (`rlock run --owner`) renew this hold, although the process that acquired it does not? This is
  /// so if the owner holds twice, or if the hold lasts longer than its record says.
  bool entered(ServerTime now) const;

  /// May it be removed by force? True if the holder is dead as far as we can tell, or if the hold never
  /// expires. But a permit that was acquired without a lease is not stale, because its holder wanted it so.
  bool stale(ServerTime now) const { return (!ttl && mode != Mode::permit) || !alive(now).value_or(true); }
};

/// A client that has a place among the waiters.
struct Waiter {
  Owner owner;
  Milliseconds ttl{0};                ///< time until its place is forgotten unless it asks again
  std::optional<ServerTime> since{};  ///< when it began to wait; empty: it is not rlock
  std::optional<Metadata> facts{};    ///< its metadata, as for a holder
};

/// A place among the waiters: `position` (from 1) of `length`.
struct Place {
  std::int64_t position;
  std::int64_t length;
};

/// Everything about one key. A glance fills in only what a wait line shows.
struct Inspection {
  enum class State { free, held, kept, open, closed };

  LockName name;
  const Kind* kind = nullptr;  ///< null: the key is absent or foreign
  State state = State::free;
  std::string foreign;              ///< the type of the key if it is none of our kinds; else empty
  std::optional<Milliseconds> ttl;  ///< of the key; empty: it has no TTL
  std::vector<Holder> holders;
  std::vector<Waiter> waiters;            ///< in order: first those for a fair lock, then the others
  std::int64_t further_waiters = 0;       ///< the number of places behind them, which are too many to read
  std::int64_t subscribers = 0;           ///< the number of listeners where releases are announced
  std::optional<std::int64_t> available;  ///< number of available permits
  std::optional<std::int64_t> total;      ///< size of the pool; empty: unknown
  std::optional<std::int64_t> count;      ///< count of a latch
  bool only_noted = false;                ///< there is no key, but a note that a latch has opened
  std::optional<std::int64_t> fence;      ///< the newest fencing token, even if the lock is free
  ServerTime now{};                       ///< the time of the inspection
  std::optional<std::string> server;      ///< of several servers, the one with this view
  std::int64_t unnamed = 0;               ///< the number of further holders, which are too many to read
  std::optional<Place> place{};           ///< of a glance: the asker's place
  std::optional<PastHold> last;           ///< of a free lock, its last hold, if that was asked for

  /// The number of waiters, as far as it is known: those with a place, and those that only listen.
  std::int64_t waiting() const;

  /// The channel of its releases. If its kind has none, or is unknown, the channel of a lock with this name.
  Channel channel() const;

  /// The hold of this owner; null: it has none. Of several permits, one.
  const Holder* holder(const Owner& owner) const;

  bool held_by(const Owner& owner) const { return holder(owner) != nullptr; }

  /// Is it a pool of permits? Each of its permits is a hold of its own.
  bool is_pool() const noexcept { return kind != nullptr && kind->is_pool; }

  /// Is there nothing under the key, and nothing beside it that names a kind?
  bool absent() const noexcept { return kind == nullptr && foreign.empty(); }

  /// Is it a text without metadata of rlock? It could be anything, so rlock unlock demands --type plain.
  bool unknown_text() const {
    return kind != nullptr && kind->layout == Kind::Layout::token && !holders.empty() &&
           !holders.front().facts;
  }
};

/// The record of a hold that is removed, or released on behalf of its owner. If the holder has no metadata,
/// the time of the inspection counts as its start. `since_found`: the time since the inspection.
PastHold past_of(const Inspection& found, const Holder& holder, Milliseconds since_found, HoldEnd end);

}  // namespace rlock
