#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "redis/enough.h"
#include "redis/redis.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// The answer of one node to an acquire, in a word.
enum class Answer {
  granted,
  busy,     ///< it has to wait there, for example because another owner has it
  refused,  ///< it cannot be acquired there, and waiting would not help: see Refused
  failed,   ///< no reply, or an error
  late,     ///< it had not replied when enough others had
};

/// The result of all votes on one acquire.
struct BallotResult {
  /// Held: a quorum granted it. Refused: a quorum can never grant it. Busy: a quorum could grant it later, but it has
  /// to wait now. Failure: no quorum can be had, because too many nodes fail; if its kind is not `unreachable`, waiting
  /// cannot help. Else the patience was interrupted.
  std::variant<std::monostate, Held, Refused, Busy, Failure> outcome{};

  const Held* held() const noexcept { return std::get_if<Held>(&outcome); }
  const Refused* refused() const noexcept { return std::get_if<Refused>(&outcome); }
  const Busy* busy() const noexcept { return std::get_if<Busy>(&outcome); }
  const Failure* failure() const noexcept { return std::get_if<Failure>(&outcome); }

  std::vector<Answer> answers{};  ///< one for each node
  TimePoint asked = kNever;       ///< Held: the time before the first granted call was written
  bool split = false;             ///< some nodes granted it, and no other owner has a quorum
  bool may_be_granted = false;    ///< not Held: some nodes granted it, or may have received the call
};

/// What comes after a round that a quorum grants.
enum class Next { nothing, another_call };

/// Counts the votes on one acquire. Each vote is decoded once, when it arrives.
class Ballot {
 public:
  /// `begun`: when the call was posted. REQUIRES: `what` and `redis` outlive it.
  Ballot(const Waitable& what, const Redis& redis, TimePoint begun)
      : what_(what),
        redis_(redis),
        decoded_(redis.nodes()),
        grace_(equal_grace(begun)),
        failure_grace_(Milliseconds{100}, begun) {}

  /// Leaves these nodes out of this round for this reason. An empty list leaves out none.
  void leave_out(const std::vector<bool>& nodes, const Failure& why);

  /// The time from which these votes are enough. If a quorum has granted, that is at once. But an acquire is not sent
  /// behind an unanswered one. So before another call, the silent nodes get as much time again as this one has taken.
  /// They get it, too, if a quorum has become impossible: then we need not undo blindly. If failures are the reason, they
  /// get at least 100 ms, because the message counts the nodes that answer.
  TimePoint enough_from(const Votes& votes, TimePoint now, Next next = Next::nothing);

  /// REQUIRES: all votes are settled, or enough.
  BallotResult result(const Votes& votes);

 private:
  void decode(const Votes& votes);

  const Waitable& what_;
  const Redis& redis_;
  std::vector<std::optional<AcquireAnswer>> decoded_;  ///< one for each node; empty: not settled yet
  Enough grace_;
  Enough failure_grace_;
};

}  // namespace rlock
