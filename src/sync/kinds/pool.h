#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sync/calls/answers.h"
#include "sync/calls/lockable.h"
#include "sync/calls/pub_sub.h"
#include "sync/calls/values.h"

namespace rlock {

/// In two synchronizers of Redisson, the key holds the number of available permits. The permits of the
/// classic semaphore have no owner; those of the pool have ids, and usually leases. While no permit of a pool
/// is taken, its key looks like that of a semaphore.
enum class PoolKind { semaphore, permits };

/// "a semaphore", "a pool of permits".
std::string_view noun_of(PoolKind kind);

/// The refusal if there is no such semaphore or pool. It says how to make one.
Refused refuse_absent(const LockName& name, PoolKind kind);

/// The operations on a semaphore or a pool of permits that need no owner. An immutable value. One Pool is one
/// request: each call may be sent twice and is done once.
class Pool {
 public:
  Pool(LockName name, PoolKind kind, PubSub pub_sub);

  /// `expire`: the server deletes the key after this time; 0: never.
  Call init(std::int64_t total, Milliseconds expire = Milliseconds{0}) const;

  /// Gives a pool of permits this size, or makes a pool of this size. Taken permits stay taken.
  Call resize(std::int64_t total) const;

  /// Makes more permits available; with a negative count, fewer. The number may fall below zero: then
  /// returned permits fill it up first. For a semaphore this is the release.
  Call add(std::int64_t count) const;

  /// Takes all available permits. REQUIRES: a semaphore.
  Call drain() const;

  /// Gives back what drain() of this object has taken. After that, a late copy of it takes nothing.
  Call undo_drain() const;

  Call remove() const;

  /// The answer to init, resize or remove.
  CounterAnswer read(const Reply& reply) const;

  /// The answer to add: the permits available now; and to drain: the permits taken.
  CounterAnswer read_count(const Reply& reply) const;

  /// Releases the permits with these ids of 16 bytes, no matter which owner took them. ReleasedIds::taken
  /// says for each id whether it was taken. REQUIRES: a pool of permits.
  Call release(const std::vector<std::string>& ids) const;
  struct ReleasedIds {
    std::vector<bool> taken{};
    std::string unannounced{};
  };
  ReleasedIds read_release(const Reply& reply) const;

  /// Renews the permits with these ids. `lease` 0: they stay taken until they are released.
  Call renew(const std::vector<std::string>& ids, Milliseconds lease) const;
  std::vector<bool> read_renewal(const Reply& reply) const;

  /// The number of available permits and, for a pool, its size. If there is no semaphore or pool,
  /// read_status() is empty.
  struct Status {
    std::int64_t available = 0;
    std::optional<std::int64_t> total{};
    /// Rest of the lease of the permit in question; empty: it is not taken, -1: it has no lease.
    std::optional<Milliseconds> rest{};
  };
  Call status() const;

  /// Like status(), with the rest of one permit's lease. REQUIRES: a pool of permits.
  Call status(const std::string& id) const;
  std::variant<std::optional<Status>, Refused> read_status(const Reply& reply) const;

 private:
  Call make_call(const Script& script, Values more = {}) const;

  LockName name_;
  PoolKind kind_;
  PubSub pub_sub_;
  std::string request_;
};

}  // namespace rlock
