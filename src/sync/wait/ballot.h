#pragma once

#include <optional>
#include <vector>

#include "redis/enough.h"
#include "redis/redis.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// What one node answered to an acquire, in a word.
enum class Answer {
  granted,
  busy,     ///< somebody else has it there
  refused,  ///< something else is under the key there
  failed,   ///< no reply, or an error
  late,     ///< it had not replied when enough others had
};

/// What the votes on one acquire amount to. At most one of held, refused, busy
/// and failure; none of them: the patience was interrupted.
struct BallotResult {
  std::optional<Held> held;        ///< a quorum granted it
  std::optional<Refused> refused;  ///< a quorum can never grant it
  std::optional<Busy> busy;        ///< a quorum could grant it, but others have it
  /// A quorum cannot be had: too many nodes do not answer. Another kind than unreachable: no waiting mends
  /// it.
  std::optional<Failure> failure;

  std::vector<Answer> answers{};  ///< of each node
  TimePoint asked = kNever;       ///< held: before the first of the calls that were granted was written
  bool split = false;             ///< some granted it, and no other owner has a quorum either
  bool may_be_granted = false;    ///< some granted it, or may have received the call, but we do not hold it
};

/// Counts the votes on one acquire. Each vote is decoded once, when it arrives.
class Ballot {
 public:
  /// `begun`: when the call was posted. REQUIRES: both outlive it.
  Ballot(const Waitable& what, const Redis& redis, TimePoint begun)
      : what_(what),
        redis_(redis),
        begun_(begun),
        decoded_(redis.nodes()),
        enough_(redis.quorum(), kLeastGrace) {}

  /// These nodes are not asked in this round, because of this; empty: all are.
  void leave_out(const std::vector<bool>& nodes, const Failure& why);

  /// From when on these votes are enough: at once when a quorum has granted it. When a quorum no longer can,
  /// the other nodes get as long again: an answer that has come need not be undone without knowing it.
  TimePoint enough_from(const Votes& votes, TimePoint now);

  /// When all votes are settled, or enough.
  BallotResult result(const Votes& votes);

 private:
  /// What the slower nodes get at least when the faster ones have decided.
  static constexpr Milliseconds kLeastGrace{5};

  void decode(const Votes& votes);

  const Waitable& what_;
  const Redis& redis_;
  const TimePoint begun_;
  std::vector<std::optional<Attempt>> decoded_;  ///< of each node; nothing: not settled yet
  Enough enough_;
};

}  // namespace rlock
