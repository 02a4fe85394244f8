// The life of a call. post() makes a Pending: the call, how it is delivered, and for each node a NodeCall
// (how far the call has come there) and a Vote (what came of it). Whenever something has happened, progress()
// takes each NodeCall as far as it can go:
//
//   begin()    asks the route for a connection and writes the call, or waits for a connection
//   advance()  finds out what became of the written call: a reply (accept()), a connection that broke or a
//              server that is silent (broke()), or nothing yet
//
// An attempt ends with finish_attempt(). After that the vote is settled, or begin() has the next turn: at
// once after a redirection, after a pause in all other cases. A settled vote never changes.
//
// Two failures shaped this file. A server that hangs takes calls and answers them much later: when one
// attempt takes longer than Timeouts::command, its connection is abandoned, and other calls go on with a new
// one. A call that the caller stopped waiting for, because a quorum was enough, stays on its connection:
// renewals skip that connection, and the release is written behind the call. And a call that was sent twice
// may be carried out twice: Vote::attempts counts every copy that a server may have received, so that a reply
// such as "not yours" is believed only when there was one copy.

#include "redis/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/random.h"
#include "base/text.h"
#include "redis/routes.h"

namespace rlock {
namespace {

/// Between two tries of a call that the server cannot answer now (LOADING, BUSY, ...): doubles, with jitter.
constexpr Milliseconds kShortestPause{20};
constexpr Milliseconds kLongestPause{500};

/// How many redirections a call follows at once. After that it pauses: they may lead in circles.
constexpr int kMostRedirections = 5;

}  // namespace

/// How far a call has come at one node.
struct Executor::NodeCall {
  std::uint64_t connection = 0;  ///< where it was written; 0: not written
  std::shared_ptr<InFlightCall> in_flight;
  TimePoint sent_at{};
  TimePoint not_before = TimePoint::min();
  Milliseconds pause = kShortestPause;
  int redirections = 0;
  bool with_asking = false;     ///< ASKING goes before it
  bool slot_moves = false;      ///< said by the server: Call::while_slot_moves goes instead
  std::optional<Failure> last;  ///< why the last attempt failed
};

/// A call that was answered before its followers.
struct Executor::Followed {
  std::size_t node;
  std::uint64_t connection;
  std::shared_ptr<InFlightCall> in_flight;
};

struct Executor::Pending {
  Call call;
  Delivery delivery;
  TimePoint deadline;
  std::vector<NodeCall> node_calls;
  Votes votes;
  bool detached = false;  ///< nobody looks at it: it goes when it is settled

  std::string_view key() const { return call.keys.empty() ? std::string_view{} : call.keys.front(); }
  bool settled() const { return std::ranges::all_of(votes, &Vote::settled); }

  const Call& to_send(bool slot_moves) const { return slot_moves ? call.while_slot_moves.front() : call; }
};

Executor::Executor(Loop& loop, const std::vector<Target>& targets, const Options& options)
    : loop_(loop), options_(options) {
  // Before its routes: a turn then tells it of a connection that broke, and why, before the route forgets that one.
  loop_.join(*this);
  for (Target target : targets) {
    using Topology = Target::Topology;
    const bool single = target.topology == Topology::single || target.topology == Topology::local;
    target.to_primary = options.to_primary && single;  // the others find the primary themselves
    target.ask_run_id = targets.size() > 1;
    routes_.push_back(make_route(loop, target, options.timeouts, options.interrupted));
  }
  trouble_.resize(routes_.size());
}

Executor::Executor(Loop& loop, std::vector<std::unique_ptr<Route>> routes, const Options& options)
    : loop_(loop), options_(options), routes_(std::move(routes)) {
  loop_.join(*this);
}

Executor::~Executor() { loop_.leave(*this); }

std::size_t Executor::quorum() const noexcept { return options_.all ? nodes() : nodes() / 2 + 1; }

/// True when as many nodes have replied as a quorum needs: one that replied does not make a quorum reachable.
bool Executor::contacted() const {
  const auto spoke = std::ranges::count_if(routes_, [](const auto& route) { return route->contacted(); });
  return static_cast<std::size_t>(spoke) >= quorum();
}

std::string Executor::str(std::size_t node) const { return routes_[node]->str(); }

std::string Executor::str() const {
  std::vector<std::string> names;
  for (const auto& route : routes_) names.push_back(route->str());
  return joined(names, ", ");
}

Redis::Request Executor::post(const Call& call, const Delivery& delivery, TimePoint deadline) {
  return {*this, begin_call(call, delivery, deadline)};
}

Redis::RequestId Executor::begin_call(const Call& call, const Delivery& delivery, TimePoint deadline) {
  const TimePoint now = loop_.now();
  const RequestId request = next_++;
  Pending& pending =
      pending_
          .emplace(request, Pending{call, delivery, deadline, std::vector<NodeCall>(nodes()), Votes(nodes())})
          .first->second;
  // Written at once where a connection is open: the round trip begins here, and not a turn later.
  for (std::size_t node = 0; node < nodes(); ++node) progress(pending, node, now);
  return request;
}

Executor::Pending& Executor::find(RequestId request) {
  const auto found = pending_.find(request);
  if (found == pending_.end()) throw Error{Error::internal, "a request was dropped and then looked at"};
  return found->second;
}

const Executor::Pending& Executor::find(RequestId request) const {
  return const_cast<Executor*>(this)->find(request);
}

const Votes& Executor::votes(RequestId request) const { return find(request).votes; }

bool Executor::settled(RequestId request) const { return find(request).settled(); }

void Executor::drop(RequestId request) {
  Pending& pending = find(request);
  for (std::size_t node = 0; node < nodes(); ++node) {
    const NodeCall& node_call = pending.node_calls[node];
    if (!node_call.in_flight) continue;
    node_call.in_flight->forgotten = true;
    // A server that waits (WAIT) reads nothing else from that connection meanwhile, not even what undoes.
    if (pending.delivery.extra_time > Milliseconds{0} && !node_call.in_flight->answer)
      routes_[node]->abandon(node_call.connection, loop_.now());
  }
  pending_.erase(request);
}

void Executor::detach(RequestId request) { find(request).detached = true; }

Votes Executor::run(const Call& call, const Delivery& delivery, const Patience& patience,
                    const EnoughFrom& enough_from) {
  const RequestId request = begin_call(call, delivery, patience.until);
  while (!settled(request) && !patience.interrupted()) {
    const TimePoint now = loop_.now();
    const TimePoint enough = enough_from(votes(request), now);
    if (enough <= now) break;
    loop_.turn(earliest(patience.until, enough));
  }
  Pending& pending = find(request);
  for (std::size_t node = 0; node < nodes(); ++node)
    // We stop waiting for nodes that have not replied. Their calls stay on the wire and may still be carried
    // out.
    finish_attempt(pending.node_calls[node], pending.votes[node]);
  Votes votes = std::move(pending.votes);
  drop(request);
  return votes;
}

/// The trouble of each node, if so many have some that the rest is no quorum.
std::optional<Failure> Executor::trouble() const {
  std::vector<std::string> texts;
  const std::optional<Failure>* newest = nullptr;
  for (std::size_t node = 0; node < nodes(); ++node) {
    if (!trouble_[node]) continue;
    newest = &trouble_[node];
    texts.push_back(fmt::format("{}: {}", str(node), trouble_[node]->text));
  }
  if (newest == nullptr || nodes() - texts.size() >= quorum()) return std::nullopt;
  return nodes() == 1 ? *newest : Failure{Error::unreachable, joined(texts, "; ")};
}

std::uint64_t Executor::losses() const {
  std::uint64_t sum = 0;
  for (const auto& route : routes_) sum += route->losses();
  return sum;
}

void Executor::give_away() {
  given_away_ = true;
  for (auto& [request, pending] : pending_)
    for (Vote& vote : pending.votes)
      if (!vote.settled()) vote.failure = Failure{Error::unreachable, "another process sees to it"};
}

bool Executor::has_followers_in_flight() const {
  return std::ranges::any_of(followed_, [&](const Followed& followed) { return in_flight(followed); });
}

/// May its followers still be answered?
bool Executor::in_flight(const Followed& followed) const {
  const Connection* connection = routes_[followed.node]->find(followed.connection);
  return followed.in_flight->followers_left > 0 && connection != nullptr && !connection->failure();
}

void Executor::send_on_abandoned(const std::vector<Call>& calls) {
  if (given_away_) return;
  for (auto& route : routes_) route->send_on_abandoned(calls);
}

void Executor::watch(const Channel& channel) {
  if (given_away_) return;
  for (auto& route : routes_) route->watch(channel);
}

void Executor::unwatch(const Channel& channel) {
  if (given_away_) return;
  for (auto& route : routes_) route->unwatch(channel);
}

std::uint64_t Executor::wakeups() const {
  std::uint64_t sum = 0;
  for (const auto& route : routes_) sum += route->wakeups();
  return sum;
}

std::vector<Message> Executor::take_messages() {
  std::vector<Message> all;
  for (const auto& route : routes_) std::ranges::move(route->take_messages(), std::back_inserter(all));
  return all;
}

/// One node that announces is enough: then waiters are woken, and they need not poll.
std::optional<std::string> Executor::subscribe_error() const {
  for (const auto& route : routes_) {
    if (!route->subscribe_error()) return std::nullopt;
  }
  return routes_.front()->subscribe_error();
}

std::optional<Failure> Executor::same_server_twice() const { return rlock::same_server_twice(routes_); }

TimePoint Executor::wake_at() const {
  TimePoint at = kNever;
  for (const auto& [request, pending] : pending_) {
    for (std::size_t node = 0; node < nodes(); ++node) {
      if (pending.votes[node].settled()) continue;
      const NodeCall& node_call = pending.node_calls[node];
      at = earliest(at, pending.deadline);
      if (node_call.connection == 0) {
        // A route that is connecting is a source of the loop itself, and wakes us when it is ready.
        at = earliest(at, routes_[node]->connecting() ? kNever : node_call.not_before);
        continue;
      }
      const Connection* connection = routes_[node]->find(node_call.connection);
      // Something has come that advance() has not taken up: the next turn must not sleep.
      if (connection == nullptr || connection->failure() || node_call.in_flight->answer)
        return TimePoint::min();
      at = earliest(at, attempt_ends(pending, node_call, *connection));
    }
  }
  return at;
}

void Executor::ready(short, TimePoint now) { progress(now); }

void Executor::progress(TimePoint now) {
  for (auto& [request, pending] : pending_) {
    for (std::size_t node = 0; node < nodes(); ++node) progress(pending, node, now);
  }
  std::erase_if(followed_, [&](const Followed& followed) { return !in_flight(followed); });
  std::erase_if(pending_, [](const auto& entry) { return entry.second.detached && entry.second.settled(); });
}

void Executor::progress(Pending& pending, std::size_t node, TimePoint now) {
  const Vote& vote = pending.votes[node];
  const NodeCall& node_call = pending.node_calls[node];
  // A redirection takes two steps: advance() ends one attempt, begin() starts the next. The bound keeps
  // a server that redirects for ever from keeping us from the other nodes.
  for (int step = 0; step < 2 * kMostRedirections && !vote.settled(); ++step) {
    const std::uint64_t before = node_call.connection;
    if (before == 0) {
      begin(pending, node, now);
    } else {
      advance(pending, node, now);
    }
    if (node_call.connection == before) return;
  }
}

/// Writes the call, if there is somewhere to write it to.
void Executor::begin(Pending& pending, std::size_t node, TimePoint now) {
  NodeCall& node_call = pending.node_calls[node];
  Vote& vote = pending.votes[node];
  if (given_away_) {
    vote.failure = Failure{Error::unreachable, "the connections were given to another process"};
    return;
  }
  if (now >= pending.deadline) {
    // Why the last attempt failed says more than that the time is over.
    vote.failure = node_call.last.value_or(
        with_server(routes_[node]->connecting_to(), {Error::unreachable, "no answer in time"}));
    return;
  }
  if (!pending.delivery.only_nodes.empty() && !pending.delivery.only_nodes[node]) {
    vote.failure = Failure{Error::unreachable, "was not asked"};
    return;
  }
  if (now < node_call.not_before) return;
  Route& route = *routes_[node];
  const Route::Choice choice = pending.delivery.only_connection == 0
                                   ? route.connection_for(pending.key(), now)
                                   : Route::Choice{route.find(pending.delivery.only_connection)};
  if (const auto* failure = std::get_if<Failure>(&choice)) return broke(pending, node, *failure, now);
  if (std::holds_alternative<Route::NotYet>(choice)) return;  // see wake_at()
  Connection* connection = std::get<Connection*>(choice);
  if (connection == nullptr) {  // only_connection: no other connection can take its place
    vote.failure = Failure{Error::unreachable, "the connection broke"};
    return;
  }
  if (has_unanswered_call(pending, *connection)) {
    vote.failure = Failure{Error::unreachable, "the server has not answered the previous request"};
    return;
  }
  node_call.sent_at = now;
  node_call.connection = connection->number();
  node_call.in_flight = connection->send(pending.to_send(node_call.slot_moves),
                                         {.followers = pending.delivery.followers,
                                          .with_source = with_source(pending.delivery),
                                          .asking = std::exchange(node_call.with_asking, false)});
}

/// Stops acquires and renewals, while a release or an undo may always follow. A server that hangs keeps our
/// calls in its socket buffer. One unanswered acquire per connection is allowed, so that what undoes it is
/// still read when we have gone: a server reads little of a socket whose other end is closed.
bool Executor::has_unanswered_call(const Pending& pending, const Connection& connection) const {
  return nodes() > 1 && pending.delivery.retry == Delivery::Retry::never && with_source(pending.delivery) &&
         connection.has_unanswered();
}

bool Executor::with_source(const Delivery& delivery) const {
  if (delivery.source == Delivery::Source::to_several) return nodes() > 1;
  return delivery.source == Delivery::Source::always;
}

/// Finds out what became of a call that was written. The order matters: a reply that has come counts also
/// when its connection has failed since, or the time is over.
void Executor::advance(Pending& pending, std::size_t node, TimePoint now) {
  NodeCall& node_call = pending.node_calls[node];
  Route& route = *routes_[node];
  Connection* connection = route.find(node_call.connection);
  if (node_call.in_flight->answer) return accept(pending, node, now);
  // The next connection speaks RESP2: the call is sent again at once.
  if (node_call.in_flight->again) return finish_attempt(node_call, pending.votes[node]);
  if (connection == nullptr) return broke(pending, node, {Error::unreachable, "the connection broke"}, now);
  const std::string server = route.server_of(node_call.connection);
  if (connection->failure()) return broke(pending, node, with_server(server, *connection->failure()), now);
  if (now < earliest(attempt_ends(pending, node_call, *connection), pending.deadline)) return;

  // An attempt that the deadline cuts short says less than what an earlier one was told.
  const bool cut_short = now < attempt_ends(pending, node_call, *connection);
  const auto silent = [&](std::string text) {
    Failure silence = with_server(server, {Error::unreachable, std::move(text)});
    const std::optional<Failure> before = trouble_[node];
    broke(pending, node, cut_short ? node_call.last.value_or(std::move(silence)) : std::move(silence), now);
    if (cut_short) trouble_[node] = before;  // the end of a wait is no trouble of the server
  };
  if (!connection->open())  // it is not abandoned: it fails by itself, or opens for the next attempt
    return silent(connection->silence());
  // The server has the call and may still carry it out: only what undoes it may follow on this connection.
  route.abandon(node_call.connection, now);
  silent(fmt::format("no answer within {}", describe(elapsed(node_call.sent_at, now))));
}

/// When an attempt has taken too long. Its time runs from when the connection was open: connecting has a time
/// limit of its own.
TimePoint Executor::attempt_ends(const Pending& pending, const NodeCall& node_call,
                                 const Connection& connection) const {
  if (!connection.open()) return kNever;
  return plus(std::max(node_call.sent_at, connection.opened_at()),
              options_.timeouts.command + pending.delivery.extra_time);
}

/// A reply has come. Settles the vote, or plans the next attempt where the reply says that the call was not
/// carried out: a redirection, or a server that cannot answer now.
void Executor::accept(Pending& pending, std::size_t node, TimePoint now) {
  NodeCall& node_call = pending.node_calls[node];
  Vote& vote = pending.votes[node];
  const std::uint64_t connection = node_call.connection;
  Reply reply = *std::move(node_call.in_flight->answer);
  const std::string server = routes_[node]->server_of(connection);
  vote.connection = connection;
  vote.asked = node_call.sent_at;
  if (node_call.in_flight->followers_left > 0) followed_.push_back({node, connection, node_call.in_flight});
  finish_attempt(node_call, vote);
  if (reply.is_error()) vote.failure = routes_[node]->wrong_url(reply);
  if (vote.failure) {
    --vote.attempts;  // it was not carried out
    return;
  }
  Route::Verdict verdict = reply.is_error() ? routes_[node]->judge(connection, reply, pending.key(), now)
                                            : Route::Verdict::pass_on;
  // While a slot moves, a call with several keys is refused. The form with one key is sent in its place,
  // once.
  if (reply.is_error("TRYAGAIN") && !pending.call.while_slot_moves.empty() &&
      !std::exchange(node_call.slot_moves, true))
    verdict = Route::Verdict::again;
  const bool redirected = verdict == Route::Verdict::again || verdict == Route::Verdict::asking;
  if (redirected && ++node_call.redirections > kMostRedirections) verdict = Route::Verdict::later;
  if (verdict == Route::Verdict::later) trouble_[node] = with_server(server, failure_of(reply));
  if (verdict == Route::Verdict::pass_on) trouble_[node].reset();
  const bool ends = verdict == Route::Verdict::later && !may_retry(pending, node);
  if (ends && !server.empty()) {  // a reply does not say which of several servers has sent it
    vote.failure = trouble_[node];
    --vote.attempts;
    return;
  }
  if (verdict == Route::Verdict::pass_on || ends) {
    vote.reply = std::move(reply);
    return;
  }
  --vote.attempts;  // this copy was not carried out: the reply to the next one tells nothing of it
  node_call.with_asking = verdict == Route::Verdict::asking;
  if (verdict != Route::Verdict::later) return;
  node_call.last = trouble_[node];
  node_call.not_before = plus(now, node_call.pause + jitter(node_call.pause));
  node_call.pause = std::min(node_call.pause * 2, kLongestPause);
  node_call.redirections = 0;  // after a pause the cluster may have come to agree
}

/// The NodeCall is as it was before begin(), and a late reply to this copy goes to nobody.
void Executor::finish_attempt(NodeCall& node_call, Vote& vote) {
  if (node_call.in_flight) {
    if (node_call.in_flight->written) ++vote.attempts;
    node_call.in_flight->forgotten = true;
  }
  node_call.in_flight.reset();
  node_call.connection = 0;
}

Failure Executor::with_server(const std::string& server, Failure why) {
  return server.empty() ? why : Failure{why.kind, fmt::format("{}: {}", server, why.text)};
}

/// An attempt failed. The next one, or the end.
void Executor::broke(Pending& pending, std::size_t node, Failure why, TimePoint now) {
  NodeCall& node_call = pending.node_calls[node];
  finish_attempt(node_call, pending.votes[node]);
  trouble_[node] = why;
  // A wrong password or a wrong server stays wrong, and a connection that was asked for by number is gone.
  const bool hopeless = why.kind != Error::unreachable || pending.delivery.only_connection != 0;
  if (hopeless || !may_retry(pending, node) || now >= pending.deadline) {
    pending.votes[node].failure = std::move(why);
    return;
  }
  node_call.not_before = std::max(plus(now, kShortestPause), routes_[node]->next_attempt());
  node_call.last = std::move(why);
}

/// Before the first contact a retry would only hide a wrong address: it needs --wait.
bool Executor::may_retry(const Pending& pending, std::size_t node) const {
  return pending.delivery.retry == Delivery::Retry::until_deadline &&
         (options_.retry_first_contact || routes_[node]->contacted());
}

}  // namespace rlock
