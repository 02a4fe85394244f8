// The ledger of what a wait may have been granted. note() writes down, after each call of a round, which
// nodes may have received it (Stage::reached, received_) and whether a copy may still be in flight. post()
// sends the undo to those nodes; await() gives them a moment to answer; the wait then goes on under a new
// identity, or under the old one where certain() says that nothing can arrive late. An owner that the user has named stays:
// its acquire must not come to a node before the undo of the last one, so closed_nodes() are left out until they answer.
//
// What can go wrong without it: an acquire that nobody answered is granted later, by a server that hung or
// from a connection that broke, and the lock is held by nobody for the length of a lease. So the undo goes to
// every node that may have received the acquire, answered or not; it is tried again for kTryFor in the
// background; and it is also written behind the acquire on abandoned connections, where it cannot come
// first.

#include "sync/wait/undo.h"

#include <algorithm>
#include <iterator>

namespace rlock {

Undo::Undo(Redis& redis, Interrupted hurried)
    : redis_(redis), hurried_(std::move(hurried)), received_(redis.nodes(), false) {}

/// A vote without a good reply, or with more than one copy, leaves a copy whose effect nobody knows.
void Undo::note(Stage& stage, const Votes& votes) {
  stage.queued = stage.what().queues();
  stage.reached.resize(votes.size(), false);
  for (std::size_t node = 0; node < votes.size(); ++node) {
    const Vote& vote = votes[node];
    received_[node] = received_[node] || vote.attempts > 0;
    stage.reached[node] = stage.reached[node] || vote.attempts > 0;
    copies_in_flight_ = copies_in_flight_ || vote.attempts > (vote.good_reply() != nullptr ? 1 : 0);
  }
}

void Undo::post(Stage& stage, Wake wake) {
  stage.queued = false;  // the undo gives up the place in the queue too
  stage.reached.resize(redis_.nodes(), false);
  for (UndoCall& undo : stage.undo_calls(wake)) {
    // Only where a copy of the acquire is in flight: without one, the undo could arrive late and undo the
    // next attempt under the same identity.
    if (copies_in_flight_) {
      std::vector<Call> calls{undo.call};
      std::ranges::copy(undo.followers, std::back_inserter(calls));
      redis_.send_on_abandoned(calls);
    }
    Delivery delivery = persistently(std::move(undo.followers));
    delivery.source = Delivery::Source::always;  // a node that did not answer may not answer NOSCRIPT either
    // A node that never received the acquire has nothing to undo, and would only be waited for.
    if (redis_.nodes() > 1) delivery.only_nodes = stage.reached;
    auto request = redis_.post(undo.call, delivery, plus(redis_.loop().now(), kTryFor));
    posted_.push_back({std::move(undo.call), std::move(delivery), std::move(request)});
  }
  stage.reached.assign(redis_.nodes(), false);  // undone as far as we can: the next round begins anew
}

void Undo::await(const Patience& patience) {
  redis_.loop().wait(patience, [this] { return answered() || hurried_(); });
}

/// Of nodes that have received nothing no answer is awaited: with a quorum, never wait for a silent node.
bool Undo::answered() const {
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

void Undo::renew_identity(bool owner_stays) {
  copies_in_flight_ = false;
  owner_stays_ = owner_stays;
  if (owner_stays) return;  // closed_nodes() needs them
  // A long wait has many rounds. What is not settled is still tried again where nobody has answered.
  std::erase_if(posted_, [](const Posted& undo) { return undo.request.settled(); });
}

/// One answer is enough, however many copies there are: the server remembers the request as undone, and a late copy changes
/// nothing. An error is no answer: what the server has done is not known.
bool Undo::is_answered(const Posted& undo, std::size_t node) const {
  const bool sent = undo.delivery.only_nodes.empty() || undo.delivery.only_nodes[node];
  return !sent || undo.request.votes()[node].good_reply() != nullptr;
}

/// To the nodes that have not answered.
void Undo::post_again(Posted& undo) {
  undo.delivery.only_nodes.resize(redis_.nodes(), true);
  for (std::size_t node = 0; node < redis_.nodes(); ++node)
    undo.delivery.only_nodes[node] = !is_answered(undo, node);
  undo.request = redis_.post(undo.call, undo.delivery, plus(redis_.loop().now(), kTryFor));
}

std::vector<bool> Undo::closed_nodes() {
  if (!owner_stays_) return {};
  std::vector<bool> closed(redis_.nodes(), false);
  std::erase_if(posted_, [&](Posted& undo) {
    bool all_answered = true;
    for (std::size_t node = 0; node < closed.size(); ++node) {
      if (is_answered(undo, node)) continue;
      closed[node] = true;
      all_answered = false;
    }
    if (!all_answered && undo.request.settled()) post_again(undo);
    return all_answered;
  });
  if (std::ranges::find(closed, true) == closed.end()) return {};
  return closed;
}

void Undo::detach() {
  for (Posted& undo : posted_) undo.request.detach();
  posted_.clear();
}

void Undo::drop() { posted_.clear(); }

}  // namespace rlock
