// Turns votes into one result. decode() reads each vote once, when it arrives, as an AcquireAnswer: held, busy,
// refused or a failure. enough_from() counts them during the call. A quorum that grants ends the call at
// once. If another call follows, or a quorum has become impossible, silent nodes get as much time again as the
// call has taken. A node whose answer we know gets the next call, and needs no blind undo. result() then sorts
// the answers and decides in this order:
//
//   held     a quorum granted it
//   refused  so many nodes refuse that a quorum can never grant it
//   failure  so many nodes refuse or fail that there is no quorum now
//   busy     a quorum answered, and other owners have it
//
// The order matters: the result is "busy" only if a quorum could be reached. A "refused" of most nodes is
// never hidden by "unreachable".

#include "sync/wait/ballot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/text.h"
#include "redis/quorum.h"

namespace rlock {
namespace {

AcquireAnswer decoded(const Waitable& what, const Vote& vote) {
  return vote.reply() ? what.read(*vote.reply()) : *vote.failure();
}

/// The answers of the nodes, sorted by their type.
struct Sorted {
  std::vector<Held> held;
  std::vector<Busy> busy;
  std::vector<Refused> refused;
  std::vector<std::size_t> refusing;                    ///< the nodes that refuse
  std::vector<std::pair<std::size_t, Failure>> failed;  ///< the node and its failure

  Answer put(std::size_t node, const AcquireAnswer& answer) {
    return std::visit(
        Overloaded{[&](const Held& one) { return held.push_back(one), Answer::granted; },
                   [&](const Busy& one) { return busy.push_back(one), Answer::busy; },
                   [&](const Refused& one) {
                     return refused.push_back(one), refusing.push_back(node), Answer::refused;
                   },
                   [&](const Failure& one) { return failed.emplace_back(node, one), Answer::failed; }},
        answer);
  }
};

/// The reply of the node whose clock is in the middle: some clocks may be wrong, but not most of them.
Held typical(std::vector<Held> held) {
  const auto middle = held.begin() + static_cast<std::ptrdiff_t>(held.size() / 2);
  std::ranges::nth_element(held, middle, {}, &Held::server_time);
  return *middle;
}

/// At how many nodes each holder has it. The key "" stands for an unknown holder.
std::map<std::string, std::size_t> holders_of(const std::vector<Busy>& busy) {
  std::map<std::string, std::size_t> holders;
  for (const Busy& one : busy) ++holders[one.holder];
  return holders;
}

/// The answer about the holder that is named most often. Its retry_after is the time when `missing` of these
/// nodes may have become free.
Busy typical(const std::vector<Busy>& busy, std::size_t missing) {
  auto holders = holders_of(busy);
  Busy typical = *std::ranges::max_element(busy, {}, [&](const Busy& one) { return holders[one.holder]; });
  std::vector<Milliseconds> rests;
  for (const Busy& one : busy) rests.push_back(one.retry_after.value_or(Milliseconds::max()));
  std::ranges::sort(rests);
  const Milliseconds rest = rests[std::min(missing, rests.size()) - 1];
  typical.retry_after = rest == Milliseconds::max() ? std::nullopt : std::optional{rest};
  return typical;
}

std::string no_quorum(const Redis& redis, const Sorted& answers) {
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < answers.refused.size(); ++i)
    reasons.push_back(redis.named(answers.refusing[i], answers.refused[i].text));
  for (const auto& [node, failure] : answers.failed) reasons.push_back(redis.named(node, failure.text));
  const std::size_t useful = answers.held.size() + answers.busy.size();
  const std::string_view can = answers.refused.empty() ? useful == 1 ? "answers" : "answer" : "can grant it";
  return fmt::format("no quorum: {} of {} servers {}, {} are needed ({})", useful, redis.nodes(), can,
                     redis.quorum(), joined(reasons, "; "));
}

/// The failure to report when too many nodes fail. Some failures are permanent (no access, no such database).
/// If these and the refusals alone prevent a quorum, a permanent one is reported: then waiting cannot help,
/// and the wait must end.
Failure failure_of(const Redis& redis, const Sorted& answers) {
  const auto lasts = [](const auto& one) { return one.second.kind != Error::unreachable; };
  const auto lasting = static_cast<std::size_t>(std::ranges::count_if(answers.failed, lasts));
  const bool for_good = !redis.can_lack(lasting + answers.refused.size());
  const auto first =
      std::ranges::find_if(answers.failed, [&](const auto& one) { return lasts(one) == for_good; });
  if (redis.nodes() == 1) return first->second;
  return {.kind = for_good ? first->second.kind : Error::unreachable,
          .text = no_quorum(redis, answers),
          .lasts = std::ranges::any_of(answers.failed,
                                       [](const auto& one) { return one.second.needs_a_person(); })};
}

}  // namespace

void Ballot::decode(const Votes& votes) {
  for (std::size_t node = 0; node < votes.size(); ++node)
    if (votes[node].settled() && !decoded_[node]) decoded_[node] = decoded(what_, votes[node]);
}

void Ballot::leave_out(const std::vector<bool>& nodes, const Failure& why) {
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node]) decoded_[node] = why;
}

TimePoint Ballot::enough_from(const Votes& votes, TimePoint now, Next next) {
  decode(votes);
  Tally granted;
  std::size_t failed = 0, refused = 0;
  for (const auto& answer : decoded_) {
    if (!answer) ++granted.open;
    if (answer && std::holds_alternative<Held>(*answer)) ++granted.yes;
    if (answer && std::holds_alternative<Failure>(*answer)) ++failed;
    if (answer && std::holds_alternative<Refused>(*answer)) ++refused;
  }
  const bool held = granted.has(redis_.quorum());
  if (held && next == Next::nothing)
    return TimePoint::min();  // renewals and the release tell the other nodes
  if (failed > 0 && !redis_.can_lack(failed + refused)) return failure_grace_.from(true, now);
  return grace_.from(held || !granted.can_have(redis_.quorum()), now);
}

BallotResult Ballot::result(const Votes& votes) {
  decode(votes);
  BallotResult result;
  Sorted sorted;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    const Vote& vote = votes[node];
    const Answer answer = decoded_[node] ? sorted.put(node, *decoded_[node]) : Answer::late;
    result.answers.push_back(answer);
    if (answer == Answer::granted) result.asked = earliest(result.asked, vote.asked);
    // If a call was written, the node may carry it out although no reply has come.
    const bool unknown = answer == Answer::late || answer == Answer::failed;
    if (unknown && vote.attempts > 0) result.may_be_granted = true;
  }
  const std::size_t quorum = redis_.quorum();
  if (sorted.held.size() >= quorum) {
    result.outcome = typical(std::move(sorted.held));
    return result;
  }
  // Split: some nodes granted it to us, and no other owner has a quorum. All waiters undo and try again,
  // each after a different pause (Pacing).
  const auto has_quorum = [&](const auto& holder) { return holder.second >= quorum; };
  result.split = !sorted.held.empty() && std::ranges::none_of(holders_of(sorted.busy), has_quorum);
  result.may_be_granted = result.may_be_granted || !sorted.held.empty();
  if (!redis_.can_lack(sorted.refused.size())) {
    result.outcome = sorted.refused.front();
  } else if (!redis_.can_lack(sorted.refused.size() + sorted.failed.size())) {
    result.outcome = failure_of(redis_, sorted);
  } else if (!sorted.busy.empty()) {
    result.outcome = typical(sorted.busy, quorum - sorted.held.size());
  }
  return result;
}

}  // namespace rlock
