#include "redis/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "base/text.h"
#include "redis/deployment.h"

namespace rlock {
namespace {

/// Between two tries of a call that the server cannot answer now (LOADING, BUSY, ...): doubles, with jitter.
constexpr Milliseconds kShortestPause{20};
constexpr Milliseconds kLongestPause{500};

/// How often a call may be told to ask elsewhere at once
/// before it has to pause: redirections that lead in circles.
constexpr int kMostRedirections = 5;

}  // namespace

/// How far a call has come at one deployment.
struct Executor::Ask {
  std::uint64_t connection = 0;  ///< where it was written; 0: not written
  std::shared_ptr<InFlightCall> question;
  TimePoint asked{};
  TimePoint not_before = TimePoint::min();
  Milliseconds pause = kShortestPause;
  int redirections = 0;
  bool asking = false;
  bool slot_moves = false;      ///< said by the server: Call::while_slot_moves goes instead
  std::optional<Failure> last;  ///< why the last attempt failed
};

struct Executor::Pending {
  Call call;
  Delivery delivery;
  TimePoint deadline;
  std::vector<Ask> asks;
  Votes votes;
  bool unobserved = false;  ///< goes when it is settled

  std::string_view key() const { return call.keys.empty() ? std::string_view{} : call.keys.front(); }
  bool settled() const { return std::ranges::all_of(votes, &Vote::settled); }

  const Call& to_send(bool slot_moves) const { return slot_moves ? call.while_slot_moves.front() : call; }
};

Executor::Executor(Loop& loop, const std::vector<Target>& targets, const Options& options)
    : loop_(loop), options_(options) {
  for (Target target : targets) {
    using Topology = Target::Topology;
    const bool single = target.topology == Topology::single || target.topology == Topology::local;
    target.to_primary = options.to_primary && single;  // the others find the primary themselves
    target.ask_run_id = targets.size() > 1;
    routes_.push_back(make_route(loop, target, options.timeouts, options.interrupted));
  }
  loop_.join(*this);
}

Executor::Executor(Loop& loop, std::vector<std::unique_ptr<Route>> routes, const Options& options)
    : loop_(loop), options_(options), routes_(std::move(routes)) {
  loop_.join(*this);
}

Executor::~Executor() { loop_.leave(*this); }

std::size_t Executor::quorum() const noexcept { return options_.all ? nodes() : nodes() / 2 + 1; }

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

Executor::Request Executor::post(const Call& call, const Delivery& delivery, TimePoint deadline) {
  const TimePoint now = Clock::now();
  const Request request = next_++;
  Pending& pending =
      pending_.emplace(request, Pending{call, delivery, deadline, std::vector<Ask>(nodes()), Votes(nodes())})
          .first->second;
  for (std::size_t node = 0; node < nodes(); ++node) progress(pending, node, now);
  return request;
}

Executor::Pending& Executor::find(Request request) {
  const auto found = pending_.find(request);
  if (found == pending_.end()) throw Error{Error::internal, "a request was dropped and then looked at"};
  return found->second;
}

const Executor::Pending& Executor::find(Request request) const {
  return const_cast<Executor*>(this)->find(request);
}

const Votes& Executor::votes(Request request) const { return find(request).votes; }

bool Executor::settled(Request request) const { return find(request).settled(); }

void Executor::drop(Request request) {
  Pending& pending = find(request);
  for (std::size_t node = 0; node < nodes(); ++node) {
    const Ask& ask = pending.asks[node];
    if (!ask.question) continue;
    ask.question->forgotten = true;
    // A server that waits (WAIT) reads nothing else from that connection meanwhile, not even what undoes.
    if (pending.delivery.extra_time > Milliseconds{0} && !ask.question->answer)
      routes_[node]->abandon(ask.connection);
  }
  pending_.erase(request);
}

void Executor::let_finish(Request request) { find(request).unobserved = true; }

Votes Executor::run(const Call& call, const Delivery& delivery, const Patience& patience,
                    const EnoughFrom& enough_from) {
  const Request request = post(call, delivery, patience.until);
  while (!settled(request) && !patience.interrupted()) {
    const TimePoint now = Clock::now();
    const TimePoint enough = enough_from(votes(request), now);
    if (enough <= now) break;
    loop_.turn(earliest(patience.until, enough));
    progress(Clock::now());
  }
  Pending& pending = find(request);
  for (std::size_t node = 0; node < nodes(); ++node) finish_attempt(pending.asks[node], pending.votes[node]);
  Votes votes = std::move(pending.votes);
  drop(request);
  return votes;
}

void Executor::send_on_abandoned(const std::vector<Call>& calls) {
  for (auto& route : routes_) route->send_on_abandoned(calls);
}

void Executor::watch(const Channel& channel) {
  for (auto& route : routes_) route->watch(channel);
}

void Executor::unwatch(const Channel& channel) {
  for (auto& route : routes_) route->unwatch(channel);
}

std::uint64_t Executor::wakeups() const {
  std::uint64_t sum = 0;
  for (const auto& route : routes_) sum += route->wakeups();
  return sum;
}

std::optional<std::string> Executor::subscribe_error() const {
  for (const auto& route : routes_) {
    if (!route->subscribe_error()) return std::nullopt;
  }
  return routes_.front()->subscribe_error();
}

std::optional<Failure> Executor::twins() const {
  std::map<std::string, std::size_t> known;
  for (std::size_t node = 0; node < nodes(); ++node) {
    for (const std::string& id : routes_[node]->run_ids()) {
      if (id.empty()) continue;
      const auto [other, is_new] = known.emplace(id, node);
      if (is_new || other->second == node) continue;
      return Failure{Error::config,
                     fmt::format("{} and {} are one and the same server, which makes no quorum",
                                 str(other->second), str(node))};
    }
  }
  return std::nullopt;
}

TimePoint Executor::wake_at() const {
  TimePoint at = kNever;
  for (const auto& [request, pending] : pending_) {
    for (std::size_t node = 0; node < nodes(); ++node) {
      if (pending.votes[node].settled()) continue;
      const Ask& ask = pending.asks[node];
      at = earliest(at, pending.deadline);
      if (ask.connection == 0) {
        at = earliest(at, routes_[node]->connecting() ? kNever : ask.not_before);
        continue;
      }
      const Connection* connection = routes_[node]->find(ask.connection);
      if (connection == nullptr || connection->failure() || ask.question->answer) return TimePoint::min();
      at = earliest(at, ask_ends(pending, ask, *connection));
    }
  }
  return at;
}

void Executor::ready(short, TimePoint now) { progress(now); }

void Executor::progress(TimePoint now) {
  for (auto& [request, pending] : pending_) {
    for (std::size_t node = 0; node < nodes(); ++node) progress(pending, node, now);
  }
  std::erase_if(pending_,
                [](const auto& entry) { return entry.second.unobserved && entry.second.settled(); });
}

void Executor::progress(Pending& pending, std::size_t node, TimePoint now) {
  const Vote& vote = pending.votes[node];
  const Ask& ask = pending.asks[node];
  for (int step = 0; step < 2 * kMostRedirections && !vote.settled(); ++step) {
    const std::uint64_t before = ask.connection;
    if (before == 0) {
      begin(pending, node, now);
    } else {
      advance(pending, node, now);
    }
    if (ask.connection == before) return;
  }
}

/// Writes the call, if there is somewhere to write it to.
void Executor::begin(Pending& pending, std::size_t node, TimePoint now) {
  Ask& ask = pending.asks[node];
  Vote& vote = pending.votes[node];
  if (now >= pending.deadline) {
    vote.failure = ask.last.value_or(Failure{Error::unreachable, "no answer in time"});
    return;
  }
  if (!pending.delivery.only_nodes.empty() && !pending.delivery.only_nodes[node]) {
    vote.failure = Failure{Error::unreachable, "was not asked"};
    return;
  }
  if (now < ask.not_before) return;
  Route& route = *routes_[node];
  const Route::Choice choice = pending.delivery.only_connection == 0
                                   ? route.connection_for(pending.key())
                                   : Route::Choice{route.find(pending.delivery.only_connection)};
  if (const auto* failure = std::get_if<Failure>(&choice)) return broke(pending, node, *failure, now);
  if (std::holds_alternative<Route::NotYet>(choice)) return;  // see wake_at()
  Connection* connection = std::get<Connection*>(choice);
  if (connection == nullptr) {
    vote.failure = Failure{Error::unreachable, "the connection broke"};
    return;
  }
  if (asks_too_much(pending, *connection)) {
    vote.failure = Failure{Error::unreachable, "no answer yet to what was asked before"};
    return;
  }
  ask.asked = now;
  ask.connection = connection->number();
  ask.question =
      connection->send(pending.to_send(ask.slot_moves), {.followers = pending.delivery.followers,
                                                         .with_source = with_source(pending.delivery),
                                                         .asking = std::exchange(ask.asking, false)});
}

/// Of several servers a frozen one is left behind with what waits in its socket.
/// A server reads little of a socket whose other end has gone, so there must be
/// little: one question in full and what undoes it, not one of every round.
bool Executor::asks_too_much(const Pending& pending, const Connection& connection) const {
  return nodes() > 1 && pending.delivery.retry == Delivery::Retry::never && with_source(pending.delivery) &&
         connection.has_unanswered();
}

bool Executor::with_source(const Delivery& delivery) const {
  if (delivery.source == Delivery::Source::to_several) return nodes() > 1;
  return delivery.source == Delivery::Source::always;
}

/// Looks at what became of a call that was written.
void Executor::advance(Pending& pending, std::size_t node, TimePoint now) {
  Ask& ask = pending.asks[node];
  Route& route = *routes_[node];
  Connection* connection = route.find(ask.connection);
  if (ask.question->answer) return accept(pending, node, now);
  if (ask.question->again) return finish_attempt(ask, pending.votes[node]);  // begun anew at once
  if (connection == nullptr) return broke(pending, node, {Error::unreachable, "the connection broke"}, now);
  if (connection->failure()) return broke(pending, node, *connection->failure(), now);
  if (now < earliest(ask_ends(pending, ask, *connection), pending.deadline)) return;

  // An attempt that the deadline cuts short says less than what an earlier one was told.
  const bool cut_short = now < ask_ends(pending, ask, *connection);
  const auto silent = [&](std::string text) {
    Failure silence{Error::unreachable, std::move(text)};
    broke(pending, node, cut_short ? ask.last.value_or(std::move(silence)) : std::move(silence), now);
  };
  if (!connection->open())  // it goes on: it fails by itself, or opens for the next try
    return silent(connection->silence());
  route.abandon(ask.connection);
  silent(fmt::format("no answer within {}", describe(left(now, ask.asked))));
}

/// When an attempt has taken too long: its time runs from the
/// opening of its connection, which has a time of its own.
TimePoint Executor::ask_ends(const Pending& pending, const Ask& ask, const Connection& connection) const {
  if (!connection.open()) return kNever;
  return later(std::max(ask.asked, connection.opened_at()),
               options_.timeouts.command + pending.delivery.extra_time);
}

void Executor::accept(Pending& pending, std::size_t node, TimePoint now) {
  Ask& ask = pending.asks[node];
  Vote& vote = pending.votes[node];
  const std::uint64_t connection = ask.connection;
  Reply reply = *std::move(ask.question->answer);
  vote.connection = connection;
  vote.asked = ask.asked;
  finish_attempt(ask, vote);
  if (reply.is_error()) vote.failure = routes_[node]->wrong_url(reply);
  if (vote.failure) {
    --vote.attempts;  // it was sent away undone
    return;
  }
  Route::Verdict verdict =
      reply.is_error() ? routes_[node]->judge(connection, reply, pending.key()) : Route::Verdict::pass_on;
  if (reply.is_error("TRYAGAIN") && !pending.call.while_slot_moves.empty() &&
      !std::exchange(ask.slot_moves, true))
    verdict = Route::Verdict::again;
  const bool redirected = verdict == Route::Verdict::again || verdict == Route::Verdict::asking;
  if (redirected && ++ask.redirections > kMostRedirections) verdict = Route::Verdict::later;
  if (verdict == Route::Verdict::pass_on || (verdict == Route::Verdict::later && !may_retry(pending, node))) {
    vote.reply = std::move(reply);
    return;
  }
  --vote.attempts;  // it was sent away undone: the answer to the next copy tells nothing of this one
  ask.asking = verdict == Route::Verdict::asking;
  if (verdict != Route::Verdict::later) return;
  ask.last = failure_of(reply);
  ask.not_before = later(now, ask.pause + jitter(ask.pause));
  ask.pause = std::min(ask.pause * 2, kLongestPause);
  ask.redirections = 0;
}

void Executor::finish_attempt(Ask& ask, Vote& vote) {
  if (ask.question) {
    if (ask.question->written) ++vote.attempts;
    ask.question->forgotten = true;
  }
  ask.question.reset();
  ask.connection = 0;
}

/// An attempt failed. The next one, or the end.
void Executor::broke(Pending& pending, std::size_t node, Failure why, TimePoint now) {
  Ask& ask = pending.asks[node];
  finish_attempt(ask, pending.votes[node]);
  const bool hopeless = why.kind != Error::unreachable || pending.delivery.only_connection != 0;
  if (hopeless || !may_retry(pending, node) || now >= pending.deadline) {
    pending.votes[node].failure = std::move(why);
    return;
  }
  ask.not_before = std::max(later(now, kShortestPause), routes_[node]->next_attempt());
  ask.last = std::move(why);
}

bool Executor::may_retry(const Pending& pending, std::size_t node) const {
  return pending.delivery.retry == Delivery::Retry::until_deadline &&
         (options_.retry_first_contact || routes_[node]->contacted());
}

}  // namespace rlock
