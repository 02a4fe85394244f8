#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/names.h"
#include "sync/watch/inspect.h"
#include "sync/watch/metadata.h"

namespace rlock {

/// One of a circle of waiters: it waits for what the next one holds, or a run above the next one.
struct DeadlockMember {
  Owner owner;
  LockName waits_for;
  Milliseconds since{0};         ///< when it arrived, by the server's clock
  std::optional<Metadata> meta;  ///< nothing: us
  Channel own{""};               ///< where it is told: nobody listens there when it was killed
};

/// Looks for a circle of waiters that only wait for each other: we wait for `wanted`, and who waits for what
/// we hold holds `wanted`, or holds what somebody waits for who holds it, and so on. It goes from our holds
/// to their waiters, and from the holds that those have written down to their waiters.
///
/// Values go in and come out: it says which key to inspect next, and reads what was seen. What it has found
/// between two looks at different keys may have been true of neither moment, so only a circle that is found
/// twice is one: a deadlock stays.
class DeadlockSearch {
 public:
  /// `holds`: ours, and those of the runs above us.
  DeadlockSearch(LockName wanted, Owner us, const std::vector<HeldKey>& holds);

  /// The key to inspect next; nothing: the search is over.
  const LockName* next() const;

  /// What stands under next().
  void read(const Inspection& seen);

  /// We are the first. Empty: there is none, as far as the search went.
  const std::vector<DeadlockMember>& circle() const noexcept { return circle_; }

 private:
  /// A hold on the way, with those who wait behind it: the first of `path` waits for a hold of ours.
  struct Candidate {
    HeldKey hold;
    std::vector<DeadlockMember> path;
  };

  void read_wanted(const Inspection& seen);
  void read_candidate(const Candidate& candidate, const Inspection& seen);

  const LockName wanted_;
  const Owner us_;
  std::set<Owner> holders_;  ///< of wanted
  Milliseconds since_{0};    ///< our arrival
  bool wanted_seen_ = false;
  std::vector<Candidate> candidates_;
  std::set<LockName> known_;  ///< keys among the candidates
  std::size_t at_ = 0;        ///< which of them is next
  std::vector<DeadlockMember> circle_;
};

/// Who arrived last, and so gives up. REQUIRES: the circle is not empty.
const DeadlockMember& youngest(const std::vector<DeadlockMember>& circle);

}  // namespace rlock
