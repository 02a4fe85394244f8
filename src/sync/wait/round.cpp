// One round: a call for each stage of the request, in order, until we fail to hold a stage. Each call goes to
// all nodes, and a Ballot decides when the votes are enough and what they mean. The lease counts from the
// first call of the round (Acquired::asked), so we never think that it lasts longer than it does.
//
// A round can fail after everything was granted: too few replicas have it, two nodes are one server, or the
// lease is nearly over. count_as_failed() turns this into an ordinary failure. Then the wait undoes what was
// granted, as after every failed round.

#include "sync/wait/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "redis/quorum.h"

namespace rlock {
namespace {

/// How long Round::connect() waits: five round trips of 200 ms, for TCP, TLS, the greeting and a question.
constexpr Milliseconds kConnecting{1000};

}  // namespace

std::optional<Acquired> Round::run(std::vector<Stage>& stages, Undo& undo, FactsThere facts) {
  Acquired acquired{.asked = kNever, .held = {}, .answers = {}};
  for (blocked_ = 0; blocked_ < stages.size(); ++blocked_) {
    ask(stages[blocked_], undo, facts, blocked_ + 1 < stages.size() ? Next::another_call : Next::nothing);
    if (result_.held() == nullptr || !await_replicas_of(stages[blocked_].what())) return std::nullopt;
    if (facts == FactsThere::known) write_facts(stages[blocked_]);
    acquired.asked = earliest(acquired.asked, result_.asked);
    if (stages[blocked_].together) {
      std::ranges::copy(result_.held()->members, std::back_inserter(acquired.held));
    } else {
      acquired.held.push_back(*result_.held());
    }
    if (acquired.answers.empty()) acquired.answers = result_.answers;
    // A node counts as granting only when it granted every stage.
    for (std::size_t node = 0; node < result_.answers.size(); ++node)
      if (result_.answers[node] != Answer::granted) acquired.answers[node] = result_.answers[node];
  }
  --blocked_;  // the last stage: if the grants came too late, it is the one that failed
  const Milliseconds took = elapsed(acquired.asked, redis_.loop().now());
  if (took < options_.good_for) return acquired;
  count_as_failed({Error::unreachable, fmt::format("granted too late, after {}", describe(took))});
  return std::nullopt;
}

void Round::connect() {
  if (!several_nodes_ || redis_.keeps_trying() || options_.node_timeout >= kConnecting) return;
  static_cast<void>(redis_.run(command({"PING"}), {}, patience_of(kConnecting), replies_of_quorum()));
}

void Round::ask(Stage& stage, Undo& undo, FactsThere facts, Next next) {
  const TimePoint begun = redis_.loop().now();
  const std::vector<bool> closed = undo.closed_nodes();
  Ballot ballot{stage.what(), redis_, begun};
  ballot.leave_out(closed, why_closed());
  Delivery delivery{.source = Delivery::Source::to_several};
  if (facts == FactsThere::unknown) delivery.followers = stage.followers();
  delivery.only_nodes = closed;
  delivery.only_nodes.flip();
  // With several nodes, this round must not wait for a silent one: the next round asks it again.
  if (!several_nodes_ && !is_single()) delivery.retry = Delivery::Retry::until_deadline;
  votes_ =
      redis_.run(stage.what().ask(elapsed(wait_begun_, begun)), delivery,
                 patience_of(several_nodes_ ? options_.node_timeout : options_.round_timeout),
                 [&](const Votes& votes, TimePoint now) { return ballot.enough_from(votes, now, next); });
  const TimePoint answered = redis_.loop().now();
  result_ = ballot.result(votes_);
  took_ = elapsed(begun, answered);
  undo.note(stage, votes_);  // in every case: the undo must know each call that was written
  if (const auto twice = several_nodes_ ? redis_.same_server_twice() : std::nullopt)
    count_as_failed(*twice);  // whatever the votes say: one server has voted twice
  if (auto* const busy = std::get_if<Busy>(&result_.outcome)) busy->seen_at = answered;
}

/// The server knew our facts as those of a waiter, so the call went without them. A waiter behind others seldom expects
/// the grant.
void Round::write_facts(const Stage& stage) {
  std::vector<Call> facts = stage.followers();
  if (facts.empty()) return;
  const Call first = std::move(facts.front());
  facts.erase(facts.begin());
  const Patience patience{plus(redis_.loop().now(), options_.node_timeout), options_.patience.interrupted};
  static_cast<void>(redis_.run(first, {.followers = std::move(facts)}, patience, replies_of_quorum()));
}

/// Enough votes for a call whose replies decide nothing.
Redis::EnoughFrom Round::replies_of_quorum() const {
  return [this, grace = equal_grace(redis_.loop().now())](const Votes& votes, TimePoint now) mutable {
    return grace.from(tally_replies(votes).is_decided(redis_.quorum()), now);
  };
}

/// The reason why a node is left out. For a single server it is its last failure, which made the undo
/// necessary.
Failure Round::why_closed() const {
  if (!several_nodes_ && result_.failure() != nullptr) return *result_.failure();
  return {Error::unreachable, "it has not answered the undo of the last request"};
}

/// Returns whether the replicas have the write.
bool Round::await_replicas_of(const Waitable& what) {
  if (options_.sync_replicas.count == 0) return true;
  options_.report({.what = what, .unconfirmed = true});
  const auto missing = await_replicas(redis_, votes_, result_.answers, options_.sync_replicas,
                                      patience_of(options_.sync_replicas.timeout + options_.round_timeout));
  if (missing) count_as_failed(*missing);
  return !missing;
}

/// The patience for one step of a round. The patience of the wait may end it sooner. But a single round
/// (-n) gets the full time, although its patience has ended from the start.
Patience Round::patience_of(Milliseconds step) const {
  Patience patience = redis_.loop().within(step);
  if (!is_single()) patience.until = earliest(patience.until, earliest(end_by_, options_.patience.until));
  patience.interrupted = options_.patience.interrupted;
  return patience;
}

/// What the nodes answered is of no use. The wait must undo what they may have granted.
void Round::count_as_failed(Failure why) {
  result_.may_be_granted = true;
  result_.outcome = std::move(why);
}

}  // namespace rlock
