#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "base/names.h"
#include "sync/records/metadata.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// A member of a circle of waiters. It waits for a key that the next member, or an outer run of the next member,
/// holds.
struct DeadlockMember {
  Owner owner;
  LockName waits_for;
  ServerTime since{};             ///< when it began to wait
  std::optional<Metadata> facts;  ///< empty: this is our own process
  Channel own{""};  ///< the member's own channel; if the member was killed, nobody listens there
};

/// Looks for a deadlock: a circle of waiters in which each waits for a key that the next one holds. We wait
/// for `wanted`. The search starts at the keys that we hold and visits their waiters. Then it visits the keys that
/// those waiters hold according to their metadata, and so on. The circle is closed when a waiter holds `wanted`.
///
/// It does no I/O: next() names the key to inspect, and read() takes the result. The keys are seen at
/// different times, so a circle may never have existed as a whole. Only a circle that is found twice is a
/// deadlock, because deadlocks stay.
class DeadlockSearch {
 public:
  /// `holds`: our holds and those of our outer runs.
  DeadlockSearch(LockName wanted, Owner us, const std::vector<OuterHold>& holds);

  /// The key to inspect next. Null: the search is over.
  const LockName* next() const;

  /// Takes the inspection of the key next().
  void read(const Inspection& seen);

  /// The circle; we are its first member. Empty: the search has found none.
  const std::vector<DeadlockMember>& circle() const noexcept { return circle_; }

 private:
  /// A hold that the search has reached, and the waiters that lead to it: the first of `path` waits for a hold of
  /// ours. A hold of ours has no path.
  struct Candidate {
    OuterHold hold;
    std::vector<DeadlockMember> path;
  };

  void read_wanted(const Inspection& seen);
  void read_candidate(const Candidate& candidate, const Inspection& seen);

  const LockName wanted_;
  const Owner us_;
  std::set<Owner> holders_;  ///< the holders of `wanted`
  ServerTime since_{};       ///< when we began to wait
  bool wanted_seen_ = false;
  std::vector<Candidate> candidates_;
  std::set<LockName> known_;  ///< the keys among the candidates
  std::size_t at_ = 0;        ///< the index of the next candidate
  std::vector<DeadlockMember> circle_;
};

/// The member that began to wait last, and so gives up. REQUIRES: the circle is not empty.
const DeadlockMember& youngest(const std::vector<DeadlockMember>& circle);

}  // namespace rlock
