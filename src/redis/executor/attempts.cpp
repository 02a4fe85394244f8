// progress() takes a call as far as it can go at one node:
//
//   begin()    asks the route for a connection and writes the call, or waits for a connection
//   advance()  looks at the written call: there is a reply (accept()), the connection broke or the server is
//              silent (failed()), or nothing has happened
//
// An attempt ends with finish(). After that the vote is settled, or begin() starts the next attempt. It starts at once
// after a redirection or a change to RESP2, otherwise after a pause. A settled vote never changes.
//
// Three dangers shaped this file:
// - A hanging server takes calls and answers them much later. If an attempt takes longer than
//   Timeouts::command, its connection is abandoned, and other calls use a new one.
// - If a quorum is enough, the caller stops waiting for a call on a slow node, but the call stays on its
//   connection. Renewals skip that connection, and the release is written behind the call.
// - A call that was sent twice may be carried out twice. Vote::attempts counts the copies that a server may have
//   carried out. A reply such as "not yours" is believed only if there was one copy.

#include "redis/executor/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace rlock {

void Attempts::progress(TimePoint now) {
  // A redirection takes two steps: advance() ends one attempt, begin() starts the next. The bound stops a
  // server that redirects for ever from blocking the other nodes.
  for (int step = 0; step < 2 * RetryPlan::kMostRedirections && !vote_.settled(); ++step) {
    const ConnectionNumber before = connection_;
    if (before == ConnectionNumber::none) {
      begin(now);
    } else {
      advance(now);
    }
    if (connection_ == before) return;
  }
}

TimePoint Attempts::wake_at() const {
  if (vote_.settled()) return kNever;
  // A route that is connecting is a source of the loop itself, and wakes us when it is ready.
  if (connection_ == ConnectionNumber::none)
    return earliest(posted_.deadline, node_.route->connecting() ? kNever : plan_.at());
  const Connection* connection = node_.route->find(connection_);
  // There is news for advance(), so the next turn must not sleep.
  if (connection == nullptr || connection->failure() || in_flight_->reply) return TimePoint::min();
  return earliest(posted_.deadline, ends(*connection));
}

/// Writes the call if there is a connection.
void Attempts::begin(TimePoint now) {
  Route& route = *node_.route;
  if (now >= posted_.deadline)
    return settle(plan_.why_unanswered(of_server(route.connecting_to(), no_answer_in_time())));
  if (now < plan_.at()) return;
  const ConnectionNumber only = posted_.delivery.only_connection;
  const Route::Choice choice = only == ConnectionNumber::none ? route.connection_for(posted_.key(), now)
                                                              : Route::Choice{route.find(only)};
  if (const auto* failure = std::get_if<Failure>(&choice)) return failed(*failure, now);
  if (std::holds_alternative<Route::NotYet>(choice)) return;  // wake_at() says when to ask again
  Connection* connection = std::get<Connection*>(choice);
  if (connection == nullptr)  // the call asks for this connection (only_connection)
    return settle(connection_broke());
  if (may_not_follow(*connection)) return settle(no_answer());
  sent_at_ = now;
  connection_ = connection->number();
  in_flight_ = connection->send(slot_moves_ ? posted_.call.while_slot_moves.front() : posted_.call,
                                {.followers = posted_.delivery.followers,
                                 .with_source = posted_.with_source(),
                                 .asking = std::exchange(with_asking_, false)});
}

/// Does an unanswered call on this connection forbid the new one? With several nodes it forbids acquires and
/// renewals, but no release and no undo. The reason: a hanging server leaves our calls in its socket buffer. If we
/// have closed our end, the server later reads only the first bytes of them. Behind a single acquire it still reads
/// the undo.
bool Attempts::may_not_follow(const Connection& connection) const {
  return posted_.to_several && posted_.delivery.retry == Delivery::Retry::never && posted_.with_source() &&
         connection.has_unanswered();
}

/// Looks at a written call. The order matters, because a reply counts even if the connection has failed since, or the
/// deadline has passed.
void Attempts::advance(TimePoint now) {
  Route& route = *node_.route;
  const Connection* connection = route.find(connection_);
  if (in_flight_->reply) return accept(now);
  if (in_flight_->again) return finish();  // the next connection speaks RESP2: the call is sent again at once
  if (connection == nullptr) return failed(connection_broke(), now);
  const std::string server = route.server_of(connection_);
  if (connection->failure()) return failed(of_server(server, *connection->failure()), now);
  const TimePoint too_slow = ends(*connection);
  if (now < earliest(too_slow, posted_.deadline)) return;

  const bool open = connection->open();
  Failure silence = of_server(
      server, {Error::unreachable, open ? fmt::format("no answer within {}", describe(elapsed(sent_at_, now)))
                                        : connection->silence()});
  // The server has the call and may still carry it out, so only an undo or a release may follow on this connection. A
  // connection that is not open fails by itself, or opens for the next attempt.
  if (open) route.abandon(connection_, now);
  if (now >= too_slow) return failed(std::move(silence), now);
  // The deadline has cut this attempt short. That says nothing about the server.
  finish();
  settle(plan_.why_unanswered(std::move(silence)));
}

/// When the attempt counts as too slow. Its time does not begin before the connection is open, because connecting has
/// its own limit.
TimePoint Attempts::ends(const Connection& connection) const {
  if (!connection.open()) return kNever;
  return plus(std::max(sent_at_, connection.opened_at()), posted_.timeout + posted_.delivery.extra_time);
}

void Attempts::accept(TimePoint now) {
  Reply reply = *std::move(in_flight_->reply);
  const std::string server = node_.route->server_of(connection_);
  vote_.connection = connection_;
  vote_.asked = sent_at_;
  if (in_flight_->followers_left > 0) node_.followed.push_back({connection_, in_flight_});
  finish();
  if (reply.is_error()) return refused(std::move(reply), server, now);
  node_.trouble.reset();
  vote_.result = std::move(reply);
}

/// Handles an error reply. It settles the vote, or plans the next attempt if the call was not carried out. That is so
/// after a redirection, or if the server cannot answer now.
void Attempts::refused(Reply error, const std::string& server, TimePoint now) {
  Route& route = *node_.route;
  // A call that was not carried out does not count, because the next reply does not depend on it.
  const auto not_carried_out = [&] { --vote_.attempts; };
  if (auto wrong = route.wrong_url(error)) {
    not_carried_out();
    return settle(*std::move(wrong));
  }
  Route::Verdict verdict = route.judge(vote_.connection, error, posted_.key(), now);
  // While a slot moves, the server refuses a call with several keys. The form with one key is sent instead,
  // once.
  if (error.is_error("TRYAGAIN") && !posted_.call.while_slot_moves.empty() &&
      !std::exchange(slot_moves_, true))
    verdict = Route::Verdict::again;
  verdict = plan_.follow(verdict);
  if (verdict == Route::Verdict::deliver) {
    node_.trouble.reset();
    vote_.result = std::move(error);
    return;
  }
  not_carried_out();
  if (verdict == Route::Verdict::later) {
    node_.trouble = of_server(server, failure_of(error));
    const bool last = !may_retry();
    if (last && server.empty()) {
      vote_.result = std::move(error);
      return;
    }
    if (last) {
      settle(*node_.trouble);  // it names the server, and the reply does not
    } else {
      plan_.pause(*node_.trouble, now);
    }
  }
  with_asking_ = verdict == Route::Verdict::asking;
}

void Attempts::finish() {
  if (in_flight_) {
    if (in_flight_->written) ++vote_.attempts;
    in_flight_->forgotten = true;
  }
  in_flight_.reset();
  connection_ = ConnectionNumber::none;
}

void Attempts::drop(TimePoint now) {
  if (!in_flight_) return;
  in_flight_->forgotten = true;
  // A server that carries out WAIT reads nothing else from that connection, not even an undo.
  if (posted_.delivery.extra_time > Milliseconds{0} && !in_flight_->reply)
    node_.route->abandon(connection_, now);
}

/// An attempt failed. Plans the next one, or settles the vote.
void Attempts::failed(Failure why, TimePoint now) {
  const Connection* connection = node_.route->find(connection_);
  const bool nobody = why.lasts && connection != nullptr && !connection->spoke();
  const int before = vote_.attempts;
  finish();
  if (nobody) vote_.attempts = before;  // what is no Redis server carries nothing out
  node_.trouble = why;
  // A wrong password or server stays wrong, and a connection that was asked for by number is gone.
  const bool hopeless =
      why.kind != Error::unreachable || posted_.delivery.only_connection != ConnectionNumber::none;
  if (hopeless || !may_retry() || now >= posted_.deadline) return settle(std::move(why));
  plan_.reconnect(std::move(why), now, node_.route->next_attempt());
}

/// May the call be tried again? Before the first contact a retry would only hide a wrong address. So it needs --wait,
/// or Retry::from_the_start.
bool Attempts::may_retry() const {
  const Delivery::Retry retry = posted_.delivery.retry;
  return retry == Delivery::Retry::from_the_start ||
         (retry == Delivery::Retry::until_deadline &&
          (posted_.retry_first_contact || node_.route->contacted()));
}

}  // namespace rlock
