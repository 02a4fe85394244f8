// The ledger of what a wait may have been granted. After each call of a round, note() records which nodes may
// have received it (Stage::reached, received_), and whether a copy may still be in flight. post() sends the
// undo to these nodes; await() gives them a moment to answer. Then the wait goes on with a new owner. If
// certain() says that nothing can arrive late, only the request ids are new. An owner that the user named
// stays. Its acquire must not reach a node before the last undo, so closed_nodes() are left out until they
// answer.
//
// The danger: an unanswered acquire is granted later, by a server that hung or through a connection that
// broke. Then the lock would be held without a holder for the length of a lease. So the undo goes to every
// node that may have received the acquire. It is retried in the background for kTryFor. It is also written
// behind the acquire on abandoned connections, where it cannot overtake the acquire.

#include "sync/wait/undo.h"

#include <algorithm>

#include "sync/calls/arguments.h"

namespace rlock {

Undo::Undo(Redis& redis, Interrupted insisted)
    : redis_(redis), insisted_(std::move(insisted)), received_(redis.nodes(), false) {}

/// A copy of a call may still be carried out if the call was written and has no good reply. This is also so if it was
/// written more than once.
void Undo::note(Stage& stage, const Votes& votes) {
  stage.has_place = stage.what().takes_place();
  stage.reached.resize(votes.size(), false);
  for (std::size_t node = 0; node < votes.size(); ++node) {
    const Vote& vote = votes[node];
    received_[node] = received_[node] || vote.attempts > 0;
    stage.reached[node] = stage.reached[node] || vote.attempts > 0;
    copies_in_flight_ = copies_in_flight_ || vote.attempts > (vote.good_reply() != nullptr ? 1 : 0);
  }
}

void Undo::post(Stage& stage, Wake wake) {
  stage.has_place = false;  // the undo also gives up the place
  // Several nodes: a new identity has reached none of them before its first round. A single one may have our place.
  if (redis_.nodes() > 1 && std::ranges::count(stage.reached, true) == 0) return;
  for (UndoCall& undo : stage.undo_calls(wake)) {
    // The undo goes to abandoned connections only if a copy of the acquire may be in flight there. Otherwise
    // it could arrive late and undo the next round, which may have the same identity.
    if (copies_in_flight_) {
      std::vector<Call> calls{undo.call};
      append(calls, undo.followers);
      redis_.send_on_abandoned(calls);
    }
    Delivery delivery = for_undo(std::move(undo.followers));
    // A node that never received the acquire has nothing to undo, and we would only wait for it.
    if (redis_.nodes() > 1) delivery.only_nodes = stage.reached;
    auto request = redis_.post(undo.call, delivery, plus(redis_.loop().now(), kTryFor));
    posted_.push_back({std::move(undo.call), std::move(delivery), std::move(request)});
  }
  stage.reached.assign(redis_.nodes(), false);  // the undos are posted, so the next round starts afresh
}

void Undo::await(const Patience& patience) {
  redis_.loop().wait(patience, [this] { return settled() || insisted_(); });
}

/// Nodes that have received no acquire do not count: they have nothing to undo, and we must not wait for a
/// silent one.
bool Undo::settled() const {
  return std::ranges::all_of(posted_, [&](const Posted& undo) {
    const Votes& votes = undo.request.votes();
    for (std::size_t node = 0; node < votes.size(); ++node)
      if (received_[node] && !votes[node].settled()) return false;
    return true;
  });
}

bool Undo::certain() const {
  const auto once = [](const Vote& vote) { return vote.good_reply() != nullptr && vote.attempts == 1; };
  return !copies_in_flight_ && std::ranges::all_of(posted_, [&](const Posted& undo) {
    return std::ranges::all_of(undo.request.votes(), once);
  });
}

void Undo::renew_identity(NewIdentity what) {
  copies_in_flight_ = false;
  owner_stays_ = what == NewIdentity::requests;
  if (owner_stays_) return;  // closed_nodes() needs the posted calls
  // A long wait has many rounds, so settled calls are dropped here. Unsettled ones go on.
  std::erase_if(posted_, [](const Posted& undo) { return undo.request.settled(); });
}

/// One answer is enough, however many copies there are: the server remembers that the request is undone, so a
/// late copy changes nothing. An error is no answer: the server may or may not have done it.
bool Undo::is_answered(const Posted& undo, std::size_t node) const {
  const bool sent = undo.delivery.goes_to(node);
  return !sent || undo.request.votes()[node].good_reply() != nullptr;
}

/// Sends the undo again to the nodes that have not answered it.
void Undo::post_again(Posted& undo) {
  undo.delivery.only_nodes.resize(redis_.nodes(), true);
  for (std::size_t node = 0; node < redis_.nodes(); ++node)
    undo.delivery.only_nodes[node] = !is_answered(undo, node);
  undo.request = redis_.post(undo.call, undo.delivery, plus(redis_.loop().now(), kTryFor));
}

std::vector<bool> Undo::closed_nodes() {
  if (!owner_stays_) return {};
  std::vector<bool> closed(redis_.nodes(), false);
  const auto all_answered = [&](const Posted& undo) {
    for (std::size_t node = 0; node < closed.size(); ++node)
      if (!is_answered(undo, node)) return false;
    return true;
  };
  std::erase_if(posted_, all_answered);
  for (Posted& undo : posted_) {
    for (std::size_t node = 0; node < closed.size(); ++node)
      if (!is_answered(undo, node)) closed[node] = true;
    if (undo.request.settled()) post_again(undo);
  }
  if (std::ranges::find(closed, true) == closed.end()) return {};
  return closed;
}

void Undo::detach() {
  for (Posted& undo : posted_) undo.request.detach();
}

void Undo::drop() { posted_.clear(); }

}  // namespace rlock
