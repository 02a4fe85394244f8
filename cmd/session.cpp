#include "cmd/session.h"

#include <fmt/format.h>

namespace rlock {

Session::Session(const ServerOptions& server, const WaitOptions* wait)
    : deployment(settle(server)),
      signals(loop),
      redis(loop, deployment.targets, {.timeouts = deployment.timeouts, .knock = wait && wait->given}) {}

Patience Session::patience() const {
  return within(deployment.timeouts.connect + deployment.timeouts.command);
}

void Session::fail(const Failure& failure) const {
  if (failure.kind != Error::unreachable) failure.fly();
  throw Error{failure.kind, fmt::format("cannot use redis at {}: {}", redis.str(), failure.text)};
}

Reply Session::ask(const Call& call) { return ask_all(call).front(); }

std::vector<Reply> Session::ask_all(const Call& call) {
  std::vector<Reply> replies;
  Failure failure{Error::unreachable, "no answer"};
  for (const Vote& vote : redis.run(call, patience())) {
    if (const Reply* reply = vote.answer()) replies.push_back(*reply);
    if (vote.failure) failure = *vote.failure;
    if (vote.reply && vote.reply->is_error()) failure = failure_of(*vote.reply);
  }
  if (signals.ended()) die_of(*signals.ended());
  if (replies.size() < redis.quorum()) fail(failure);
  return replies;
}

AcquireOptions Session::waiting(const WaitOptions& wait, TimePoint started) const {
  AcquireOptions options;
  options.patience = {.until = wait.nonblock ? TimePoint::min() : wait.until(started),
                      .interrupted = [this] { return signals.any(); }};
  options.one_try = deployment.timeouts.connect + deployment.timeouts.command;
  options.node_timeout = deployment.timeouts.command;
  return options;
}

}  // namespace rlock
