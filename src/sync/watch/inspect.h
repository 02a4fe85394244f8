#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/reply.h"
#include "sync/kinds/kind.h"
#include "sync/watch/history.h"
#include "sync/watch/metadata.h"

namespace rlock {

/// Who holds something, as far as the server and the holder's own words tell.
struct Holder {
  enum class Mode { exclusive, read, write, permit };

  Owner owner;  ///< of a permit nobody can name: its id in hexadecimal
  Mode mode = Mode::exclusive;
  std::int64_t count = 1;           ///< holds of this owner
  std::optional<Milliseconds> ttl;  ///< until it ends unless renewed; nothing: never
  std::optional<std::int64_t> fence;
  std::string permit;                ///< the 16 bytes of its id
  std::optional<std::int64_t> slot;  ///< of a permit of rlock's
  std::optional<Metadata> meta;      ///< nothing: not rlock's, or it may not say

  /// Does it live, as far as we can tell? Nothing: nobody knows. `now`: the server's time.
  std::optional<bool> alive(Milliseconds now) const;

  /// Is there reason to remove it by force? It is dead as far as we can tell, or it never frees itself. A permit that was
  /// taken without a lease is none of both: it was asked for so.
  bool stale(Milliseconds now) const { return (!ttl && mode != Mode::permit) || !alive(now).value_or(true); }
};

/// Who has a place among those that wait.
struct Waiter {
  Owner owner;
  Milliseconds ttl{0};                  ///< until its place is forgotten unless it asks again
  std::optional<Milliseconds> since{};  ///< when it arrived; nothing: it is not rlock's
  std::optional<Metadata> meta{};       ///< as of a holder
};

/// Where somebody stands among those that wait: `position` (from 1) of `length`.
struct Place {
  std::int64_t position;
  std::int64_t length;
};

/// Everything about one key; or, of a glance, what a wait line says of it.
struct Inspection {
  enum class State { free, held, kept, open, closed };

  LockName name;
  const Kind* kind = nullptr;  ///< nothing: there is none, or something foreign
  State state = State::free;
  std::string foreign;              ///< what stands there, where it is none of our kinds; else empty
  std::optional<Milliseconds> ttl;  ///< of the key; nothing: it never ends
  std::vector<Holder> holders;
  std::vector<Waiter> waiters;            ///< in their order: those of a fair lock, then the others
  std::int64_t subscribers = 0;           ///< who listens where releases are announced
  std::optional<std::int64_t> available;  ///< permits
  std::optional<std::int64_t> total;      ///< permits, where the size of the pool is known
  std::optional<std::int64_t> count;      ///< of a latch
  std::optional<std::int64_t> fence;      ///< the newest fencing token, also while nobody holds the lock
  Milliseconds now{0};                    ///< the server's time of the inspection
  std::optional<std::string> server;      ///< which of several servers says so
  std::int64_t unnamed = 0;               ///< so many holders more; of a glance, which names only some
  std::optional<Place> place{};           ///< of whoever has glanced at it
  std::optional<PastHold> last;           ///< who had it, where it is free and somebody has asked for that

  /// How many wait for a release, as far as is known: those that have a place, and those that only listen.
  std::int64_t waiting() const;

  bool held_by(const Owner& owner) const;

  /// Is there nothing under the key, and nothing beside it that tells of one?
  bool absent() const noexcept { return kind == nullptr && foreign.empty(); }
};

/// What holders say about themselves: owner -> facts. And of a latch, what has become of it.
using Facts = std::map<Owner, Metadata>;

/// To inspect a key takes three calls; the second needs the reply to the first, the third that to the second.
/// InspectionSteps sends the first two to every node, in their order.
///   1. Who says what about itself? An error in answer is no fact at all: the key may be forbidden to us.
Call ask_facts(const LockName& name);
struct KnownFacts {
  Facts facts;
  bool latch = false;   ///< rlock has made a latch of this name,
  bool opened = false;  ///< which was opened
};
KnownFacts read_facts(const Reply& reply);

///   2. What stands there?
Call inspect_key(const LockName& name, const Facts& facts);
Inspection read_inspection(const LockName& name, const KnownFacts& known, const Reply& reply);

/// For a wait line one call is enough, and it costs the server the same however many wait: a few of the
/// holders with their facts, and the place of `asker` (may be empty) among those that wait.
Call glance_at(const LockName& name, const Owner& asker);
Inspection read_glance(const LockName& name, const Reply& reply);

/// Is there a holder of rlock's without facts? It may have come between the two replies: the first call is
/// worth sending again.
bool lacks_facts(const Inspection& inspection);

///   3. Who listens? An error in answer means that nobody can say: 0.
Call count_listeners(const LockName& name, const Channel& channel);
Call count_listeners(const Inspection& inspection);  ///< to where its releases are announced
std::int64_t read_listeners(const Reply& reply);

/// Who listens on the server, for whatever key: the names that clients have given themselves, each once. The
/// server does not say who listens for what. An error in answer means that nobody may know: none.
Call ask_listeners();
std::vector<std::string> read_names(const Reply& reply);

}  // namespace rlock
