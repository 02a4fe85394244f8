#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/kinds/lockable.h"
#include "sync/kinds/pub_sub.h"
#include "sync/kinds/values.h"

namespace rlock {

/// What Redisson keeps its semaphores in: a number of available permits. They are
/// of two kinds that nothing tells apart as long as no permit is taken: the classic
/// semaphore, whose permits nobody owns, and the pool of permits that are leases.
enum class PoolKind { semaphore, permits };

/// "a semaphore", "a pool of permits".
std::string_view noun_of(PoolKind kind);

/// Nothing there to take from: says how to make it.
Refused refuse_absent(const LockName& name, PoolKind kind);

/// What an operation on a pool came to.
struct PoolAnswer {
  enum class How {
    done,
    exists,   ///< init: there is one, unchanged
    absent,   ///< all others: there is none
    refused,  ///< see `refused`
  } how = How::done;
  std::int64_t count = 0;     ///< init: its size; add: what is available now; drain: what was taken
  std::string unannounced{};  ///< why waiters could not be told; empty when they were
  Refused refused{};
};

/// The operations on a semaphore or a pool of permits that are not taking and giving back by an owner. A
/// value; one Pool is one request: each of its calls may be sent twice and is done once.
class Pool {
 public:
  Pool(LockName name, PoolKind kind, PubSub pub_sub);

  /// `expire`: after which it is forgotten; 0: never.
  Call init(std::int64_t total, Milliseconds expire = Milliseconds{0}) const;
  PoolAnswer read_init(const Reply& reply) const;

  /// Gives a pool of permits this size, and makes one where there is none. What is taken stays taken. Read it by
  /// read_init().
  Call resize(std::int64_t total) const;

  /// Makes more permits available, or (negative) fewer: there may be less than none then, and what comes back fills that
  /// up first. Of a semaphore this is the release.
  Call add(std::int64_t count) const;
  PoolAnswer read_add(const Reply& reply) const;

  /// Takes all that is available. Of a semaphore only.
  Call drain() const;
  PoolAnswer read_drain(const Reply& reply) const;

  Call remove() const;
  PoolAnswer read_remove(const Reply& reply) const;

  /// By ids of 16 bytes, whoever took them. Of a pool of permits
  /// only. The answers: for each id whether it was still taken.
  Call release(const std::vector<std::string>& ids) const;
  struct ReleasedIds {
    std::vector<bool> taken{};
    std::string unannounced{};
  };
  ReleasedIds read_release(const Reply& reply) const;

  /// `lease`: 0: they stay taken until somebody gives them back.
  Call renew(const std::vector<std::string>& ids, Milliseconds lease) const;
  std::vector<bool> read_renewal(const Reply& reply) const;

  /// How many are available, and of a pool of permits the size. Nothing: there is none.
  struct Status {
    std::int64_t available = 0;
    std::optional<std::int64_t> total{};
    std::optional<Milliseconds>
        rest{};  ///< of the lease of the permit that was asked for, where it is taken; -1: it has none
  };
  Call status() const;

  /// The same, with the rest of the lease of one permit. Of a pool of permits only.
  Call status(const std::string& id) const;
  std::variant<std::optional<Status>, Refused> read_status(const Reply& reply) const;

 private:
  Call call(const Script& script, Values more = {}) const;
  PoolAnswer refuse(const Reply& reply) const;

  LockName name_;
  PoolKind kind_;
  PubSub pub_sub_;
  std::string request_;
};

}  // namespace rlock
