#include "cmd/session.h"

namespace rlock {

Session::Session(const ServerOptions& server, const WaitOptions* wait)
    : deployment(settle(server)),
      signals(loop),
      redis(loop, deployment.targets,
            {.timeouts = deployment.timeouts, .knock = wait && wait->given, .interrupted = [this] {
               return signals.look_for_any();
             }}) {}

Patience Session::patience() const {
  return {later(Clock::now(), deployment.timeouts.connect + deployment.timeouts.command),
          [this] { return signals.any(); }};
}

void Session::fail(const Failure& failure) const {
  throw Error{failure.kind, unreachable_text(redis.str(), deployment.named, failure)};
}

Reply Session::ask(const Call& call) { return ask_all(call).front(); }

Reply Session::any_answer(const Call& call) {
  Failure failure{Error::unreachable, "no answer"};
  for (const Vote& vote : redis.run(call, patience())) {
    if (vote.reply) return *vote.reply;
    if (vote.failure) failure = *vote.failure;
  }
  if (signals.ended()) die_of(*signals.ended());
  fail(failure);
}

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

AcquireOptions Session::waiting(const WaitOptions& wait, TimePoint started, WaitLines& lines) const {
  AcquireOptions options;
  options.patience = {.until = wait.nonblock ? TimePoint::min() : wait.until(started),
                      .interrupted = [this] { return signals.any(); }};
  options.one_try = deployment.timeouts.connect + deployment.timeouts.command;
  options.node_timeout = deployment.timeouts.command;
  options.hurried = [this] { return signals.insisted(); };
  options.tell = [&lines](const Waiting& waiting) { lines.look(waiting); };
  options.tell_at = [&lines] { return lines.next_at(); };
  return options;
}

}  // namespace rlock
