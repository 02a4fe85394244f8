// The ledger of what a wait may have been granted. note() writes down, after each call of a round, which
// nodes may have received it (Stage::reached, received_) and whether a copy may still be in flight. post()
// sends the undo to those nodes; await() gives them a moment to answer; the wait then goes on under a new
// identity, or under the old one where certain() says that nothing can arrive late.
//
// What can go wrong without it: an acquire that nobody answered is granted later, by a server that hung or
// from a connection that broke, and the lock is held by nobody for the length of a lease. So the undo goes to
// every node that may have received the acquire, answered or not; it is tried again for kTryFor in the
// background; and it is also written behind the acquire on abandoned connections, where it cannot come
// first.

#include "sync/undo.h"

#include <algorithm>
#include <iterator>

namespace rlock {
namespace {

/// How long we wait for replies: a wait of 2 s is over within 3 s, whatever the network does.
constexpr Milliseconds kAwait{700};

/// How long a call is tried again at a node that does not answer, while we do something else.
constexpr Milliseconds kTryFor{30000};

}  // namespace

Undo::Undo(Redis& redis, Interrupted hurried)
    : redis_(redis), hurried_(std::move(hurried)), received_(redis.nodes(), false) {}

Undo::~Undo() { drop(); }

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
    requests_.push_back(redis_.post(undo.call, delivery, plus(Clock::now(), kTryFor)));
  }
  stage.reached.assign(redis_.nodes(), false);  // undone as far as we can: the next round begins anew
}

void Undo::await() {
  const TimePoint until = plus(Clock::now(), kAwait);
  // Of nodes that have received nothing no answer is awaited: with a quorum, never wait for a silent node.
  const auto answered = [&](auto request) {
    const Votes& votes = redis_.votes(request);
    for (std::size_t node = 0; node < votes.size(); ++node)
      if (received_[node] && !votes[node].settled()) return false;
    return true;
  };
  while (Clock::now() < until && !hurried_() && !std::ranges::all_of(requests_, answered))
    redis_.loop().turn(until);
}

bool Undo::certain() const {
  const auto once = [](const Vote& vote) { return vote.good_reply() != nullptr && vote.attempts == 1; };
  return !copies_in_flight_ && std::ranges::all_of(requests_, [&](auto request) {
    return std::ranges::all_of(redis_.votes(request), once);
  });
}

void Undo::renew_identity() {
  copies_in_flight_ = false;
  std::erase_if(requests_, [&](auto request) {   // a long wait has many rounds
    if (!redis_.settled(request)) return false;  // it is still tried again where nobody has answered
    redis_.drop(request);
    return true;
  });
}

void Undo::detach() {
  for (const auto request : requests_) redis_.detach(request);
  requests_.clear();
}

void Undo::drop() {
  for (const auto request : requests_) redis_.drop(request);
  requests_.clear();
}

}  // namespace rlock
