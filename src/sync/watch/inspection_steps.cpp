// The facts come first, then the key. The second call takes the owners in the facts as arguments, to match
// permits with owners. If a holder comes between the two calls, its facts are missing and it would look like
// a stranger. Then the facts are asked for once more, but only once: some holders have none, because they may
// not write them.

#include "sync/watch/inspection_steps.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "sync/watch/glance.h"

namespace rlock {
namespace {

/// The facts of all servers together, because the owner of a permit may have recorded its facts on another
/// server only.
Facts all_facts(const std::vector<KnownFacts>& known) {
  Facts all;
  for (const KnownFacts& some : known) all.insert(some.facts.begin(), some.facts.end());
  return all;
}

}  // namespace

InspectionSteps::InspectionSteps(LockName name, std::string wanted)
    : name_(std::move(name)), wanted_(std::move(wanted)), call_(ask_facts(name_, wanted_)) {}

InspectionSteps::InspectionSteps(LockName name, const Owner& asker)
    : name_(std::move(name)), step_(Step::glance), call_(glance_at(name_, asker)) {}

void InspectionSteps::ask(Step step, std::optional<Call> call) {
  step_ = step;
  call_ = std::move(call);
}

void InspectionSteps::read(const Votes& votes) {
  switch (step_) {
    case Step::facts:
      known_.resize(votes.size());
      read_facts_of_all(votes);
      return ask(Step::inspect, inspect_key(name_, all_facts(known_), wanted_));
    case Step::inspect: {
      inspected_ = votes;
      read_views();
      // A holder that came between the two replies has written its facts by now.
      return any_lacks_facts() ? ask(Step::facts_again, ask_facts(name_, wanted_))
                               : ask(Step::over, std::nullopt);
    }
    case Step::facts_again:
      read_facts_of_all(votes);
      read_views();
      return ask(Step::over, std::nullopt);
    case Step::glance:
    case Step::glance_again: {
      inspected_ = votes;
      const bool first = step_ == Step::glance;
      read_views();
      // A holder that has just come writes its facts behind its acquire.
      return first && any_lacks_facts() ? ask(Step::glance_again, call_) : ask(Step::over, std::nullopt);
    }
    case Step::over: return;
  }
}

void InspectionSteps::read_facts_of_all(const Votes& votes) {
  for (std::size_t node = 0; node < votes.size(); ++node)
    if (const Reply* reply = votes[node].reply()) known_[node] = read_facts(*reply);
}

bool InspectionSteps::any_lacks_facts() const {
  return std::ranges::any_of(views_, [](const View& view) {
    const auto* seen = std::get_if<Inspection>(&view);
    return seen != nullptr && lacks_facts(*seen);
  });
}

void InspectionSteps::read_views() {
  views_.clear();
  for (std::size_t node = 0; node < inspected_.size(); ++node) views_.push_back(view(node));
}

InspectionSteps::View InspectionSteps::view(std::size_t node) const {
  const Reply* reply = inspected_[node].good_reply();
  if (!reply) return inspected_[node].why();
  try {
    if (step_ == Step::glance || step_ == Step::glance_again) return read_glance(name_, *reply);
    return read_inspection(name_, known_[node], *reply);
  } catch (const Error& error) {  // this node's reply has another shape; other nodes may do better
    return Failure{error.kind(), error.what()};
  }
}

std::size_t nodes_that_see(const std::vector<Inspection>& seen, const Owner& owner) {
  return static_cast<std::size_t>(
      std::ranges::count_if(seen, [&](const Inspection& one) { return one.held_by(owner); }));
}

const Inspection& agreed(const std::vector<Inspection>& seen, const std::optional<Owner>& owner) {
  // What makes a view the best one; the most important comes first.
  const auto rank = [&](const Inspection& view) {
    bool has_owner = false, knows_owner = false;
    std::size_t most = 0, known = 0;
    for (const Holder& holder : view.holders) {
      most = std::max(most, nodes_that_see(seen, holder.owner));
      if (holder.facts) ++known;
      if (!owner || holder.owner != *owner) continue;
      has_owner = true;
      knows_owner = knows_owner || holder.facts;
    }
    return std::tuple{has_owner, knows_owner, most, known, !view.absent()};
  };
  return *std::ranges::max_element(seen, {}, rank);
}

}  // namespace rlock
