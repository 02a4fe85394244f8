#pragma once

#include <algorithm>
#include <cstddef>

#include "base/time.h"
#include "redis/vote.h"

namespace rlock {

/// Which part of several nodes must agree.
enum class Quorum { majority, all };

constexpr std::size_t majority_of(std::size_t nodes) { return nodes / 2 + 1; }

/// The count of the votes on one question: how many nodes say yes, and how many have not said anything yet.
struct Tally {
  std::size_t yes = 0;
  std::size_t open = 0;

  bool has(std::size_t nodes) const noexcept { return yes >= nodes; }
  bool can_have(std::size_t nodes) const noexcept { return yes + open >= nodes; }

  /// Whatever the open nodes will say, it does not change whether so many say yes.
  bool is_decided(std::size_t nodes) const noexcept { return has(nodes) || !can_have(nodes); }
};

/// Counts the nodes that replied; an error is a reply, too.
inline Tally tally_replies(const Votes& votes) {
  Tally tally;
  for (const Vote& vote : votes) {
    if (vote.reply() != nullptr) ++tally.yes;
    if (!vote.settled()) ++tally.open;
  }
  return tally;
}

/// Have at least this many nodes given an answer that is no error?
inline bool answered_by(std::size_t nodes, const Votes& votes) {
  const auto answers =
      std::ranges::count_if(votes, [](const Vote& vote) { return vote.good_reply() != nullptr; });
  return static_cast<std::size_t>(answers) >= nodes;
}

/// Decides when a call has enough votes: when some nodes have decided, the slower ones get a while longer.
/// It has no I/O and no clock; it fits Redis::EnoughFrom.
class Enough {
 public:
  /// The call is decided by the answers of this many nodes, errors excluded; the other nodes get `grace`. `begun`: they
  /// also get as much time again as the call has taken since then; kNever: they do not.
  Enough(std::size_t nodes, Milliseconds grace, TimePoint begun = kNever)
      : nodes_(nodes), grace_(grace), begun_(begun) {}

  /// The time from which the votes are enough; kNever: it is not decided.
  TimePoint operator()(const Votes& votes, TimePoint now) { return from(answered_by(nodes_, votes), now); }

  /// The same time, but the caller says whether the call is decided. The first call with `decided` fixes the time.
  TimePoint from(bool decided, TimePoint now) {
    if (decided && from_ == kNever) from_ = plus(now, elapsed(begun_, now) + grace_);
    return from_;
  }

  std::size_t nodes() const noexcept { return nodes_; }

 private:
  std::size_t nodes_;
  Milliseconds grace_;
  TimePoint begun_;
  TimePoint from_ = kNever;
};

/// For a call if the caller says when it is decided. Then the slower nodes get as much time again as the call has
/// taken, and at least 5 ms.
inline Enough equal_grace(TimePoint begun) { return {0, Milliseconds{5}, begun}; }

}  // namespace rlock
