// Renews a lease, one Try after the other. With --no-renew, each Try only asks whether the lock is still ours, at
// the same times. begin() posts the renewal of every part; advance() looks at the votes after each turn of the
// loop. outcome() decides:
//
//   renewed   Every part is still ours at a quorum. With renewals, the lease starts again at the time when the
//             try was posted.
//   failed    Some part has no quorum now. The next try comes soon (retry_every), because one success is
//             enough.
//   not_ours  The nodes say so. The lock is lost for good, because another owner may hold it.
//
// The Keeper needs no reply to know how long the lock is ours. stop_at() lies at a fixed distance from the
// last successful try, so the command is stopped in time even if no reply ever comes. All votes for one
// renewal come from the same try: half of one try and half of another may never have been true together.

#include "sync/hold/keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/key_text.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "redis/quorum.h"
#include "sync/wait/replicas.h"

namespace rlock {

namespace {

/// REQUIRES: the vote is settled.
RenewAnswer answer_of(const Lockable& lock, const Vote& vote) {
  return vote.reply() ? lock.read_renewal(*vote.reply()) : *vote.failure();
}

/// Why a vote says nothing about the hold. Empty: it does say something, or it has not come yet.
std::string why_unanswered(const Lockable& lock, const Vote& vote) {
  if (!vote.settled()) return "";
  const RenewAnswer answer = answer_of(lock, vote);
  const auto* failure = std::get_if<Failure>(&answer);
  return failure != nullptr ? failure->text : "";
}

/// Why a lease that is not renewed is over for us before the server ends it. The history has this text, too.
std::string rest_text(const Lease& lease, TimePoint now) {
  const Milliseconds rest = remaining(plus(lease.asked, lease.budget.lease), now);
  if (rest == Milliseconds{0}) return "its lease has ended (--no-renew)";
  return fmt::format("its lease had {} left and is not renewed (--no-renew)", describe(rest));
}

}  // namespace

Keeper::Keeper(Redis& redis, Options options)
    : redis_(redis),
      options_(std::move(options)),
      next_try_(plus(options_.lease.asked, options_.lease.budget.renew_every)) {}

TimePoint Keeper::stop_at() const { return lost() ? lost_at_ : options_.lease.stop_at(); }

TimePoint Keeper::kill_at() const {
  if (!lost()) return options_.lease.kill_at();
  // Another owner may hold the lock already. So the grace begins at the loss, and never ends later than the
  // old kill_at().
  return earliest(plus(lost_at_, options_.lease.budget.lost_grace), options_.lease.kill_at());
}

void Keeper::removed() {
  if (lost()) return;
  taken_away_ = true;
  lose("it was removed", redis_.loop().now());
}

void Keeper::stop(const Patience& patience) {
  stopped_ = true;
  // A renewal that arrives after the release would get the answer "not ours".
  redis_.loop().wait(patience, [this] { return !try_ || lost(); });
  try_.reset();
}

TimePoint Keeper::wake_at() const {
  if (lost()) return kNever;
  TimePoint at = options_.lease.stop_at();
  if (try_) return outcome() == Outcome::open ? at : TimePoint::min();
  if (stopped_) return at;
  return looks_now_ ? TimePoint::min() : earliest(at, next_try_);
}

void Keeper::ready(short, TimePoint now) {
  if (lost()) return;
  advance(now);
  if (!lost() && !try_ && !stopped_ && (looks_now_ || now >= next_try_)) begin(now);
  if (lost() || now < options_.lease.stop_at()) return;
  // This check comes last, so a renewal that arrived in this turn still counts.
  lose(options_.lease.budget.renews
           ? fmt::format("it could not be renewed for {}{}{}", describe(elapsed(options_.lease.asked, now)),
                         problem_.empty() ? "" : ": ", problem_)
           : rest_text(options_.lease, now),
       now);
}

void Keeper::begin(TimePoint now) {
  const Budget& budget = options_.lease.budget;
  try_.emplace(now);
  looks_now_ = false;
  next_try_ = plus(now, budget.retry_every);  // if the try succeeds, advance() sets a later time
  const Milliseconds rest = remaining(options_.lease.valid_until(), now);
  for (const Part& part : options_.parts) {
    Delivery delivery{.source = Delivery::Source::to_several};
    if (budget.renews) delivery.followers = part.followers;
    try_->requests.push_back(redis_.post(
        budget.renews ? part.lock->renew() : part.lock->still_ours(std::max(rest, Milliseconds{1})), delivery,
        plus(now, budget.try_for)));
  }
}

void Keeper::advance(TimePoint now) {
  if (!try_) return;
  const Outcome came_to = outcome();
  if (came_to == Outcome::open) return;
  if (came_to == Outcome::not_ours) {
    taken_away_ = true;
    return lose(fmt::format("the server says that {} is not ours any more", lost_key()), now);
  }
  const bool renews = options_.lease.budget.renews;
  if (came_to == Outcome::renewed) {
    const bool unconfirmed = renews && options_.sync_replicas.count > 0 && try_->confirmations.empty();
    if (unconfirmed) return ask_for_confirmations();
    // The lease counts from the post, not from the reply: the server may have renewed at any time between
    // them.
    if (renews) options_.lease.asked = try_->asked;
    next_try_ = plus(try_->asked, options_.lease.budget.renew_every);
  }
  const bool troubled = came_to == Outcome::failed;
  const std::string problem = troubled ? why_failed() : "";
  if (troubled ? problem_.empty() : !logged_renewal_ || !problem_.empty()) log_renewal(problem);
  if (options_.report_trouble && problem.empty() != problem_.empty()) options_.report_trouble(problem);
  logged_renewal_ = logged_renewal_ || !troubled;
  problem_ = problem;
  try_.reset();
}

/// For -v: logs the first renewal, and the beginning and end of trouble.
void Keeper::log_renewal(const std::string& problem) const {
  const bool renews = options_.lease.budget.renews;
  const std::string what = (renews ? "" : "about ") + quoted(names_of(options_.parts));
  if (!problem.empty())
    return debug(fmt::format("could not {} {}: {}; trying again", renews ? "renew" : "ask", what, problem));
  debug(fmt::format("{} {}{}", renews ? "renewed" : "asked", what,
                    logged_renewal_ || !problem_.empty() ? " again" : ""));
}

/// Why the current try failed: the reason of the first node that did not renew, or that has too few replicas.
std::string Keeper::why_failed() const {
  for (std::size_t part = 0; part < options_.parts.size(); ++part) {
    const Votes& votes = try_->requests[part].votes();
    for (std::size_t node = 0; node < votes.size(); ++node) {
      const std::string why = why_unanswered(*options_.parts[part].lock, votes[node]);
      if (!why.empty()) return redis_.named(node, why);
    }
  }
  for (const auto& [connection, request] : try_->confirmations) {
    for (const Vote& vote : request.votes()) {
      const auto missing = replicas_missing(vote, options_.sync_replicas);
      if (vote.reply() && missing) return missing->text;
    }
  }
  return replicas_missing({}, options_.sync_replicas)->text;  // WAIT was not answered
}

/// The worst outcome of all parts. A part that is lost counts as worse than a part without an answer.
Keeper::Outcome Keeper::outcome() const {
  Outcome worst = Outcome::renewed;
  for (std::size_t part = 0; part < options_.parts.size(); ++part) {
    const Outcome one = outcome_of(*options_.parts[part].lock, try_->requests[part].votes());
    if (one == Outcome::not_ours) return one;
    if (one == Outcome::failed || worst == Outcome::renewed) worst = one;
  }
  return worst;
}

/// "it"; of several keys, the one that is lost.
std::string Keeper::lost_key() const {
  if (options_.parts.size() == 1) return "it";
  for (std::size_t part = 0; part < options_.parts.size(); ++part) {
    const Lockable& lock = *options_.parts[part].lock;
    if (outcome_of(lock, try_->requests[part].votes()) == Outcome::not_ours) return quoted(lock.name());
  }
  return "one of them";
}

/// A part must be ours at a quorum. It is lost as soon as too many nodes say "not ours".
Keeper::Outcome Keeper::outcome_of(const Lockable& lock, const Votes& votes) const {
  Tally renewed;
  std::size_t not_ours = 0;
  for (const Vote& vote : votes) {
    const Outcome one = outcome_of(lock, vote);
    if (one == Outcome::renewed) ++renewed.yes;
    if (one == Outcome::open) ++renewed.open;
    if (one == Outcome::not_ours) ++not_ours;
  }
  if (!redis_.can_lack(not_ours)) return Outcome::not_ours;
  if (renewed.has(redis_.quorum())) return Outcome::renewed;
  return renewed.can_have(redis_.quorum()) ? Outcome::open : Outcome::failed;
}

Keeper::Outcome Keeper::outcome_of(const Lockable& lock, const Vote& vote) const {
  if (!vote.settled()) return Outcome::open;
  const RenewAnswer answer = answer_of(lock, vote);
  const auto renewed = [&](const Renewed&) {
    return try_->confirmations.empty() ? Outcome::renewed : outcome_of_confirmation(vote.connection);
  };
  return std::visit(Overloaded{renewed, [](const NotOurs&) { return Outcome::not_ours; },
                               [](const Failure&) { return Outcome::failed; }},
                    answer);
}

Keeper::Outcome Keeper::outcome_of_confirmation(ConnectionNumber connection) const {
  const auto found = try_->confirmations.find(connection);
  if (found == try_->confirmations.end())
    return Outcome::failed;  // its reply came after WAIT had been sent to the other nodes
  const Votes& votes = found->second.votes();
  const bool confirmed = std::ranges::any_of(votes, [&](const Vote& vote) {
    return vote.reply() && !replicas_missing(vote, options_.sync_replicas);
  });
  if (confirmed) return Outcome::renewed;
  return found->second.settled() ? Outcome::failed : Outcome::open;
}

/// WAIT goes once to each connection that renewed something, because it covers all writes on that connection.
void Keeper::ask_for_confirmations() {
  const TimePoint until =
      plus(redis_.loop().now(), options_.sync_replicas.timeout + options_.lease.budget.try_for);
  std::map<ConnectionNumber, Redis::Request> confirmations;
  for (const Redis::Request& request : try_->requests) {
    for (const Vote& vote : request.votes()) {
      if (vote.good_reply() == nullptr || confirmations.contains(vote.connection)) continue;
      confirmations[vote.connection] =
          redis_.post(await_replicas_call(options_.sync_replicas),
                      await_replicas_delivery(options_.sync_replicas, vote.connection), until);
    }
  }
  try_->confirmations = std::move(confirmations);
}

void Keeper::lose(std::string why, TimePoint now) {
  why_ = std::move(why);
  lost_at_ = now;
  try_.reset();
}

}  // namespace rlock
