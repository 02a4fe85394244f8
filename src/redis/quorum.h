#pragma once

#include <algorithm>
#include <cstddef>

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

}  // namespace rlock
