// How verbs ask and take the answers. Each method sends one call, and waits at most as long as the patience
// of the verb. first_reply() waits for all nodes. The others wait for a quorum and a moment more. ask() and
// ask_all() want replies that are no errors; ask_each() keeps the votes of all nodes; first_reply() and
// try_each() accept errors too.
//
// A verb that only asks can do nothing without an answer. So too few answers become an Error here, with a
// text for people (describe()), and a signal becomes EndedBySignal. Most verbs let both pass to main(). A verb catches
// them if it has something to undo, can go on (with its other keys, the next look), or prints the failure itself.

#include "cmd/server/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/as_given.h"
#include "base/blocking.h"
#include "base/log.h"
#include "base/text.h"
#include "process/finish_behind.h"
#include "redis/enough.h"
#include "redis/route/local.h"

namespace rlock {
namespace {

/// Without --wait, a Cluster or Sentinels may take this long to name a primary.
constexpr Milliseconds kFailover{30000};

/// Without --wait, an outage during a wait may last this long. In this time a server can restart.
constexpr Milliseconds kOutage{60000};

/// How long a program may take that writes the password into a pipe. It may ask a person.
constexpr Milliseconds kPassword{60000};

/// How long rlock waits for it without a word.
constexpr Milliseconds kSaysNothing{1000};

}  // namespace

Session::Session(const ServerOptions& server, Access access)
    : Session(resolve(server), nullptr, {.to_primary = access == Access::writes}) {
  announce(deployment);
}

Session::Session(const ServerOptions& server, const WaitOptions& wait)
    : Session(resolve(server), &wait, {.to_primary = true}) {
  announce(deployment);
}

Session::Session(Deployment resolved, const WaitOptions& wait, Quorum quorum)
    : Session(std::move(resolved), &wait, {.quorum = quorum, .to_primary = true}) {}

Session::Session(Deployment resolved, const WaitOptions* wait, const Executor::Options& options)
    : deployment(std::move(resolved)),
      may_wait(wait != nullptr && !wait->given && !wait->typed_nonblock),
      own_loop_(std::in_place),
      loop(*own_loop_),
      signals(loop),
      executor_(
          std::in_place, loop, deployment.targets,
          Executor::Options{
              .timeouts = deployment.timeouts,
              .quorum = options.quorum,
              .to_primary = options.to_primary,
              .retry_first_contact = wait != nullptr && wait->given,
              // A private server may have to start first. The loop does not turn then, so signals are drained
              // here.
              .interrupted = [this] { return signals.drain_any(); }}),
      redis(*executor_) {
  // Now, because later a wait that does not turn the loop would delay renewals.
  const TimePoint limit = wait != nullptr && !wait->nonblock ? wait->until(loop.now()) : kNever;
  const auto looks = [this, say_at = plus(loop.now(), kSaysNothing)]() mutable {
    if (has_passed(say_at)) {
      info("waiting for the password: the process at the other end of the pipe must write it and close it");
      say_at = kNever;
    }
    return signals.drain_any();
  };
  const Patience patience{.until = earliest(limit, plus(loop.now(), kPassword)), .interrupted = looks};
  for (const Target& target : deployment.targets)
    if (target.topology != Target::Topology::local) target.password.await(patience);
}

Session::Session(Deployment resolved, Redis& answers)
    : deployment(std::move(resolved)), may_wait(false), loop(answers.loop()), signals(loop), redis(answers) {}

TimePoint Session::now() const { return loop.now(); }

std::string Session::servers() const {
  std::vector<std::string> names;
  for (std::size_t node = 0; node < redis.nodes(); ++node) names.push_back(redis.str(node));
  return joined(names, ", ");
}

Milliseconds Session::first_contact() const {
  const auto fails_over = [](const Target& target) {
    return target.topology == Target::Topology::cluster || target.topology == Target::Topology::sentinel;
  };
  const bool any = std::ranges::any_of(deployment.targets, fails_over);
  return any ? kFailover : deployment.timeouts.connect + deployment.timeouts.command;
}

std::vector<LockName> Session::names(const std::vector<std::string>& keys) const {
  std::vector<LockName> names;
  std::set<LockName> known;
  for (const std::string& key : keys)
    if (const auto [full, is_new] = known.insert(name(key)); is_new) names.push_back(*full);
  return names;
}

Patience Session::patience() const {
  return {plus(now(), deployment.timeouts.connect + deployment.timeouts.command),
          [this] { return signals.any(); }};
}

std::string Session::describe(const Failure& failure, std::string_view known) const {
  const std::string what = fmt::format("cannot use redis at {}: {}{}", servers(), failure.text, known);
  if (failure.kind != Error::unreachable || !known.empty()) return what;
  if (failure.answered) return may_wait ? what + "; --wait waits for it" : what;
  const bool wait_helps = may_wait && !failure.lasts;
  if (deployment.named)
    return fmt::format("{}; see {}{}", what,
                       as_given("url", wait_helps ? "--url, RLOCK_URL" : "--url and RLOCK_URL"),
                       wait_helps ? ", or --wait to wait for it" : "");
  if (!local_server_is_installed()) return what + "; start a server there, or name one by --url or RLOCK_URL";
  return what + "; start a server there, name one by --url or RLOCK_URL, or try --url local: (a private one)";
}

void Session::fail(const Failure& failure) const { throw Error{failure.kind, describe(failure)}; }

void Session::check_signals() const {
  if (signals.ended()) throw EndedBySignal{*signals.ended()};
}

Reply Session::ask(const Call& call, const Delivery& delivery) { return ask_all(call, delivery).front(); }

Reply Session::first_reply(const Call& call) {
  Failure failure = no_answer();
  for (const Vote& vote : redis.run_all(call, with_retries(), patience())) {
    if (vote.reply()) return *vote.reply();
    if (vote.failure()) failure = *vote.failure();
  }
  check_signals();
  fail(failure);
}

std::vector<Reply> Session::ask_all(const Call& call, const Delivery& delivery) {
  std::vector<Reply> replies;
  for (const Vote& vote : ask_each(call, delivery)) {
    if (const Reply* reply = vote.good_reply()) replies.push_back(*reply);
  }
  return replies;
}

Votes Session::ask_each(const Call& call, const Delivery& delivery) {
  Votes votes = run(call, delivery, kAnswerGrace);
  check_signals();  // before the failure, because a signal may have caused it
  if (answered_by(redis.quorum(), votes)) return votes;
  Failure failure = no_answer();
  for (const Vote& vote : votes) failure = vote.trouble().value_or(failure);
  if (redis.nodes() > 1 && failure.kind == Error::unreachable) failure = redis.trouble().value_or(failure);
  fail(failure);
}

Votes Session::try_each(const Call& call) { return run(call, {}, kShortAnswerGrace); }

Votes Session::run(const Call& call, const Delivery& delivery, Milliseconds grace) {
  return redis.run(call, delivery, patience(),
                   [this, enough = Enough{grace}](const Votes& votes, TimePoint now) mutable {
                     return enough.from(answered_by(redis.quorum(), votes), now);
                   });
}

AcquireOptions Session::waiting(const WaitOptions& wait, TimePoint started,
                                std::function<void(const Waiting&)> report) const {
  AcquireOptions options;
  // A patience that has ended from the start (-n) makes a single attempt.
  options.patience = {.until = wait.nonblock ? TimePoint::min() : wait.until(started),
                      .interrupted = [this] { return signals.any(); }};
  options.round_timeout = deployment.timeouts.connect + deployment.timeouts.command;
  options.node_timeout = deployment.timeouts.command;
  options.call_timeout = deployment.timeouts.command;
  if (!wait.given) {
    options.first_contact = first_contact();
    options.outage = kOutage;
  }
  options.behind = finish_behind;
  options.insisted = [this] { return signals.insisted(); };
  options.report = std::move(report);
  return options;
}

}  // namespace rlock
