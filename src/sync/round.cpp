#include "sync/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

/// What the slower deployments get at least when the faster
/// ones have decided: they answer in the same moment.
constexpr Milliseconds kSameMoment{5};

/// What the deployments said, each put with its like.
struct Tally {
  std::vector<Held> held;
  std::vector<Busy> busy;
  std::vector<Refused> refused;
  std::vector<std::pair<std::size_t, Failure>> failed;  ///< and which deployment

  Said put(std::size_t node, Attempt attempt) {
    if (auto* failure = std::get_if<Failure>(&attempt)) {
      failed.emplace_back(node, std::move(*failure));
      return Said::failed;
    }
    if (auto* granted = std::get_if<Held>(&attempt)) {
      held.push_back(std::move(*granted));
      return Said::granted;
    }
    if (auto* other = std::get_if<Busy>(&attempt)) {
      busy.push_back(std::move(*other));
      return Said::busy;
    }
    refused.push_back(std::get<Refused>(std::move(attempt)));
    return Said::refused;
  }
};

Attempt said_by(const Waitable& what, const Vote& vote) {
  return vote.reply ? what.read(*vote.reply) : *vote.failure;
}

/// Of several servers the one whose clock stands in the
/// middle: some clocks may be wrong, but not most of them.
Held typical(std::vector<Held> held) {
  const auto middle = held.begin() + static_cast<std::ptrdiff_t>(held.size() / 2);
  std::ranges::nth_element(held, middle, {}, &Held::server_time);
  return *middle;
}

/// At how many of them each holder has it; "": nobody can say who.
std::map<std::string, std::size_t> holders_of(const std::vector<Busy>& busy) {
  std::map<std::string, std::size_t> holders;
  for (const Busy& one : busy) ++holders[one.holder];
  return holders;
}

/// Who has it at most of them; worth asking again when `missing` more of them may have become free.
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

std::string no_quorum(const Redis& redis, const Tally& tally) {
  std::vector<std::string> reasons;
  for (const auto& [node, failure] : tally.failed)
    reasons.push_back(fmt::format("{}: {}", redis.str(node), failure.text));
  const std::size_t answer = redis.nodes() - tally.failed.size();
  return fmt::format("no quorum: {} of {} servers answer{}, {} are needed ({})", answer, redis.nodes(),
                     answer == 1 ? "s" : "", redis.quorum(), joined(reasons, "; "));
}

/// Too many fail. One of those that no waiting mends, where they alone are too many.
Failure failure_of(const Redis& redis, const Tally& tally) {
  const auto lasts = [](const auto& one) { return one.second.kind != Error::unreachable; };
  const auto lasting = static_cast<std::size_t>(std::ranges::count_if(tally.failed, lasts));
  const bool for_good = lasting + tally.refused.size() > redis.nodes() - redis.quorum();
  const auto first =
      std::ranges::find_if(tally.failed, [&](const auto& one) { return lasts(one) == for_good; });
  if (redis.nodes() == 1) return first->second;
  return {for_good ? first->second.kind : Error::unreachable, no_quorum(redis, tally)};
}

}  // namespace

Round count(const Waitable& what, const Redis& redis, const Votes& votes) {
  Round round;
  Tally tally;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    const Vote& vote = votes[node];
    const Said said = vote.settled() ? tally.put(node, said_by(what, vote)) : Said::nothing;
    round.said.push_back(said);
    if (said == Said::granted) round.asked = earliest(round.asked, vote.asked);
    const bool unheard = said == Said::nothing || said == Said::failed;
    if (unheard && vote.attempts > 0) round.may_be_granted = true;
  }
  const std::size_t quorum = redis.quorum();
  const std::size_t spare = votes.size() - quorum;
  if (tally.held.size() >= quorum) {
    round.held = typical(std::move(tally.held));
    return round;
  }
  const auto has_quorum = [&](const auto& holder) { return holder.second >= quorum; };
  round.split = !tally.held.empty() && std::ranges::none_of(holders_of(tally.busy), has_quorum);
  round.may_be_granted = round.may_be_granted || !tally.held.empty();
  if (tally.refused.size() > spare) {
    round.refused = tally.refused.front();
  } else if (tally.refused.size() + tally.failed.size() > spare) {
    round.failure = failure_of(redis, tally);
  } else if (!tally.busy.empty()) {
    round.busy = typical(tally.busy, quorum - tally.held.size());
  }
  return round;
}

TimePoint Decision::enough_from(const Votes& votes) {
  std::size_t granted = 0;
  std::size_t open = 0;
  for (const Vote& vote : votes) {
    if (!vote.settled()) {
      ++open;
    } else if (std::holds_alternative<Held>(said_by(what_, vote))) {
      ++granted;
    }
  }
  if (granted >= redis_.quorum()) return TimePoint::min();
  if (granted + open >= redis_.quorum()) return kNever;
  if (!hopeless_since_) hopeless_since_ = Clock::now();
  return *hopeless_since_ + (*hopeless_since_ - begun_) + kSameMoment;
}

}  // namespace rlock
