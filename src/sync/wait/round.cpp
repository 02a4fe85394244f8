// One round: a call for each stage of the wish, in order, until a stage is not held. Each goes to all nodes,
// and a Ballot says when the votes are enough and what they amount to. What is held counts from the first
// call of the round (Taken::asked), so that a lease is never thought to last longer than it does.
//
// A round can fail after all of it was granted: too few replicas have it, two nodes are one server, or it
// took so long that the lease is nearly over. count_as_failed() turns that into an ordinary failure, and the
// wait undoes what was granted as it undoes every other failed round.

#include "sync/wait/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sync/wait/replicas.h"

namespace rlock {

std::optional<Taken> Round::attempt(std::vector<Stage>& stages, Undo& undo, bool facts) {
  Taken taken{.asked = kNever, .held = {}, .answers = {}};
  for (blocked_ = 0; blocked_ < stages.size(); ++blocked_) {
    ask(stages[blocked_], undo, facts);
    if (!result_.held || !replicated()) return std::nullopt;
    taken.asked = earliest(taken.asked, result_.asked);
    if (stages[blocked_].together) {
      std::ranges::copy(result_.held->members, std::back_inserter(taken.held));
    } else {
      taken.held.push_back(*result_.held);
    }
    if (taken.answers.empty()) taken.answers = result_.answers;
    // A node counts as granting only when it granted every stage.
    for (std::size_t node = 0; node < result_.answers.size(); ++node)
      if (result_.answers[node] != Answer::granted) taken.answers[node] = result_.answers[node];
  }
  --blocked_;  // the last one: where granting too late counts as its failure
  const Milliseconds took = elapsed(taken.asked, redis_.loop().now());
  if (took < options_.good_for) return taken;
  count_as_failed({Error::unreachable, fmt::format("granted too late, after {}", describe(took))});
  return std::nullopt;
}

void Round::ask(Stage& stage, Undo& undo, bool facts) {
  const TimePoint begun = redis_.loop().now();
  const std::vector<bool> closed = undo.closed_nodes();
  Ballot ballot{stage.what(), redis_, begun};
  ballot.leave_out(closed, why_closed());
  Delivery delivery{.source = Delivery::Source::to_several};
  if (facts) delivery.followers = stage.followers();
  delivery.only_nodes = closed;
  delivery.only_nodes.flip();
  // With several nodes a silent one is asked again in the next round: this round must not wait for it.
  if (!several_nodes_ && !single_attempt_) delivery.retry = Delivery::Retry::until_deadline;
  votes_ = redis_.run(stage.what().ask(elapsed(wait_begun_, begun)), delivery,
                      patience_of(several_nodes_ ? options_.node_timeout : options_.attempt_timeout),
                      [&](const Votes& votes, TimePoint now) { return ballot.enough_from(votes, now); });
  const TimePoint answered = redis_.loop().now();
  result_ = ballot.result(votes_);
  took_ = elapsed(begun, answered);
  undo.note(stage, votes_);  // before anything else can end this round
  if (const auto twice = several_nodes_ ? redis_.same_server_twice() : std::nullopt) {
    count_as_failed(*twice);  // whatever the votes say: there is no majority among fewer servers
    result_.busy.reset();
    result_.refused.reset();
  }
  if (result_.busy) result_.busy->heard = answered;
}

/// Of the only server: what it failed with before, which is why there was something to undo.
Failure Round::why_closed() const {
  if (!several_nodes_ && result_.failure) return *result_.failure;
  return {Error::unreachable, "it has not answered the undo of the last request"};
}

bool Round::replicated() {
  if (options_.sync_replicas == 0) return true;
  const auto missing =
      await_replicas(redis_, votes_, result_.answers, options_.sync_replicas, options_.sync_timeout,
                     patience_of(options_.sync_timeout + options_.attempt_timeout));
  if (missing) count_as_failed(*missing);
  return !missing;
}

/// For one step of a round; the patience of the wait may end sooner. A single attempt (-n) is made in full,
/// although its patience has ended from the start.
Patience Round::patience_of(Milliseconds step) const {
  Patience patience = redis_.loop().within(step);
  if (!single_attempt_) patience.until = earliest(patience.until, earliest(end_by_, options_.patience.until));
  patience.interrupted = options_.patience.interrupted;
  return patience;
}

/// It was granted, but is of no use: it must be undone.
void Round::count_as_failed(Failure why) {
  result_.held.reset();
  result_.may_be_granted = true;
  result_.failure = std::move(why);
}

}  // namespace rlock
