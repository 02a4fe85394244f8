// The life of a call. post() makes a Pending: the call and, for each node, a Vote and the Attempts that settle it.
// Each event takes them as far as they can go (attempts.cpp). Most other functions add up what the nodes say, or pass
// an order on to each node.

#include "redis/executor/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/as_given.h"
#include "base/text.h"
#include "redis/executor/attempts.h"
#include "redis/quorum.h"
#include "redis/route/make_route.h"

namespace rlock {

struct Executor::Pending {
  Pending(PostedCall what, std::vector<Node>& nodes) : posted(std::move(what)), votes(nodes.size()) {
    attempts.reserve(nodes.size());
    for (std::size_t node = 0; node < nodes.size(); ++node)
      attempts.emplace_back(posted, nodes[node], votes[node]);
  }
  Pending(const Pending&) = delete;  // the attempts refer to it
  Pending& operator=(const Pending&) = delete;

  PostedCall posted;
  Votes votes;
  std::vector<Attempts> attempts;
  bool detached = false;  ///< no caller looks at it: it is deleted when it is settled

  bool settled() const { return std::ranges::all_of(votes, &Vote::settled); }
  void settle(std::size_t node, std::string_view why) {
    if (!votes[node].settled()) votes[node].result = Failure{Error::unreachable, std::string{why}};
  }
};

Executor::Executor(Loop& loop, const std::vector<Target>& targets, const Options& options)
    : loop_(loop), options_(options) {
  // The routes join the loop after us. So in each turn the Executor learns why a connection broke before the route
  // forgets that connection.
  for (Target target : targets) {
    const bool single =
        target.topology == Target::Topology::single || target.topology == Target::Topology::local;
    target.to_primary = options.to_primary && single;  // the other topologies find the primary themselves
    target.ask_run_id = targets.size() > 1;
    nodes_.push_back({make_route(loop, target, options.timeouts, options.interrupted)});
  }
}

Executor::Executor(Loop& loop, std::vector<std::unique_ptr<Route>> routes, const Options& options)
    : loop_(loop), options_(options) {
  for (auto& route : routes) nodes_.push_back({std::move(route)});
}

Executor::~Executor() = default;

std::size_t Executor::quorum() const noexcept {
  return options_.quorum == Quorum::all ? nodes() : majority_of(nodes());
}

bool Executor::contacted() const {
  const auto spoke = std::ranges::count_if(nodes_, [](const Node& node) { return node.route->contacted(); });
  return static_cast<std::size_t>(spoke) >= quorum();
}

std::string Executor::str(std::size_t node) const { return nodes_[node].route->str(); }

Redis::Request Executor::post(const Call& call, const Delivery& delivery, TimePoint deadline) {
  return {*this, begin_call(call, delivery, deadline)};
}

Redis::CallNumber Executor::begin_call(const Call& call, const Delivery& delivery, TimePoint deadline) {
  const TimePoint now = loop_.now();
  const CallNumber request = next_++;
  PostedCall posted{.call = call,
                    .delivery = delivery,
                    .deadline = deadline,
                    .timeout = options_.timeouts.command,
                    .retry_first_contact = options_.retry_first_contact,
                    .to_several = nodes() > 1};
  Pending& pending = *(pending_[request] = std::make_unique<Pending>(std::move(posted), nodes_));
  // If a connection is open, the call is written now, so that the round trip does not wait for a turn of the loop.
  for (std::size_t node = 0; node < nodes(); ++node) {
    const bool asked = delivery.goes_to(node);
    if (given_away_) {
      pending.settle(node, "the connections were given to another process");
    } else if (!asked) {
      pending.settle(node, "was not asked");
    } else {
      pending.attempts[node].progress(now);
    }
  }
  return request;
}

Executor::Pending& Executor::find(CallNumber request) {
  const auto found = pending_.find(request);
  if (found == pending_.end()) throw Error{Error::internal, "a request was dropped and then looked at"};
  return *found->second;
}

const Executor::Pending& Executor::find(CallNumber request) const {
  return const_cast<Executor*>(this)->find(request);
}

const Votes& Executor::votes(CallNumber request) const { return find(request).votes; }

bool Executor::settled(CallNumber request) const { return find(request).settled(); }

void Executor::drop(CallNumber request) {
  for (Attempts& attempts : find(request).attempts) attempts.drop(loop_.now());
  pending_.erase(request);
}

void Executor::detach(CallNumber request) { find(request).detached = true; }

Votes Executor::run(const Call& call, const Delivery& delivery, const Patience& patience,
                    const EnoughFrom& enough_from) {
  const CallNumber number = begin_call(call, delivery, patience.until);
  const Request request{*this, number};  // drops the call at the end
  while (!request.settled() && !patience.interrupted()) {
    const TimePoint now = loop_.now();
    const TimePoint enough = enough_from(request.votes(), now);
    if (enough <= now) break;
    loop_.turn(earliest(patience.until, enough));
  }
  Pending& pending = find(number);
  // We stop waiting for nodes that have not replied. Their calls stay on the wire and may still be carried out.
  for (Attempts& attempts : pending.attempts) attempts.finish();
  return std::move(pending.votes);
}

/// The failures of the nodes, if the nodes without one are fewer than a quorum.
std::optional<Failure> Executor::trouble() const {
  if (nodes() == 1) return nodes_.front().trouble;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < nodes(); ++i)
    if (nodes_[i].trouble) texts.push_back(named(i, nodes_[i].trouble->text));
  if (can_lack(texts.size())) return std::nullopt;
  const bool lasts = std::ranges::any_of(
      nodes_, [](const Node& node) { return node.trouble && node.trouble->needs_a_person(); });
  return Failure{.text = joined(texts, "; "), .lasts = lasts};
}

std::uint64_t Executor::losses() const {
  std::uint64_t sum = 0;
  for (const Node& node : nodes_) sum += node.route->losses();
  return sum;
}

void Executor::give_away() {
  given_away_ = true;
  std::set<std::size_t> silent;
  for (auto& [request, pending] : pending_) {
    for (std::size_t node = 0; node < nodes(); ++node) {
      if (!pending->votes[node].settled()) silent.insert(node);
      pending->settle(node, "another process sees to it");
    }
  }
  given_away_silent_ = !can_lack(silent.size());
}

bool Executor::has_followers_in_flight() const {
  return std::ranges::any_of(nodes_, [](const Node& node) {
    return std::ranges::any_of(node.followed, [&](const auto& call) { return node.in_flight(call); });
  });
}

void Executor::send_on_abandoned(const std::vector<Call>& calls) {
  if (given_away_) return;
  for (Node& node : nodes_) node.route->send_on_abandoned(calls);
}

void Executor::watch(const Channel& channel) {
  if (given_away_) return;
  for (Node& node : nodes_) node.route->watch(channel);
}

void Executor::unwatch(const Channel& channel) {
  if (given_away_) return;
  for (Node& node : nodes_) node.route->unwatch(channel);
}

std::uint64_t Executor::wakeups() const {
  std::uint64_t sum = 0;
  for (const Node& node : nodes_) sum += node.route->wakeups();
  return sum;
}

std::vector<Message> Executor::take_messages() {
  std::vector<Message> all;
  for (Node& node : nodes_) std::ranges::move(node.route->take_messages(), std::back_inserter(all));
  return all;
}

/// One node that sends messages is enough, because it wakes the waiters, and they need not poll.
std::optional<std::string> Executor::subscribe_error() const {
  for (const Node& node : nodes_) {
    if (!node.route->subscribe_error()) return std::nullopt;
  }
  return nodes_.front().route->subscribe_error();
}

/// Such a server would vote twice, and could be a majority alone.
std::optional<Failure> Executor::same_server_twice() const {
  std::map<std::string, const Route*> known;
  for (const Node& node : nodes_) {
    for (const std::string& id : node.route->run_ids()) {
      if (id.empty()) continue;
      const auto [other, is_new] = known.emplace(id, node.route.get());
      if (is_new) continue;
      return Failure{Error::config,
                     fmt::format("{} and {} are the same server, and it counts once; remove one ({})",
                                 other->second->str(), node.route->str(), as_given("url", "--url"))};
    }
  }
  return std::nullopt;
}

TimePoint Executor::wake_at() const {
  TimePoint at = kNever;
  for (const auto& [request, pending] : pending_)
    for (const Attempts& attempts : pending->attempts) at = earliest(at, attempts.wake_at());
  return at;
}

void Executor::ready(short, TimePoint now) {
  for (auto& [request, pending] : pending_)
    for (Attempts& attempts : pending->attempts) attempts.progress(now);
  for (Node& node : nodes_)
    std::erase_if(node.followed, [&](const Node::Followed& call) { return !node.in_flight(call); });
  std::erase_if(pending_,
                [](const auto& entry) { return entry.second->detached && entry.second->settled(); });
}

}  // namespace rlock
