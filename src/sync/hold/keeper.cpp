// Renewals, one Try after the other. begin() posts the renewal of every part; advance() looks at the votes
// after each turn of the loop. outcome() is renewed when every part is still ours at a quorum: then the lease
// starts again at the moment when the try was posted. It is failed when some part has no quorum any more: the
// next try comes soon, and often (retry_every), since each that succeeds is enough. It is not_ours when the
// nodes say so: then the lock is lost, at once and for ever, since somebody else may hold it.
//
// The Keeper never waits for the network to be sure. stop_at() lies at a fixed distance from the last try
// that succeeded, so the command is stopped in time even when nothing is ever heard again. All votes that
// count for one renewal come from one and the same try: two halves of different tries could both be true and
// yet never have been true together.

#include "sync/hold/keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "sync/wait/replicas.h"

namespace rlock {

namespace {

/// REQUIRES: the vote is settled.
RenewAnswer answer_of(const Lockable& lock, const Vote& vote) {
  return vote.reply ? lock.read_renewal(*vote.reply) : *vote.failure;
}

/// Why a vote tells nothing about the hold; empty where it does, or has not come.
std::string why_unanswered(const Lockable& lock, const Vote& vote) {
  if (!vote.settled()) return "";
  const RenewAnswer answer = answer_of(lock, vote);
  const auto* failure = std::get_if<Failure>(&answer);
  return failure != nullptr ? failure->text : "";
}

}  // namespace

Keeper::Keeper(Redis& redis, Options options)
    : redis_(redis),
      options_(std::move(options)),
      next_try_(options_.lease.budget.renews ? plus(options_.lease.asked, options_.lease.budget.renew_every)
                                             : kNever) {
  redis_.loop().join(*this);
}

Keeper::~Keeper() { redis_.loop().leave(*this); }

TimePoint Keeper::stop_at() const { return lost() ? lost_at_ : options_.lease.stop_at(); }

TimePoint Keeper::kill_at() const {
  if (!lost()) return options_.lease.kill_at();
  // Somebody else may hold it already: the grace runs from now, and never beyond what we were sure of anyway.
  return earliest(plus(lost_at_, options_.lease.budget.lost_grace), options_.lease.kill_at());
}

void Keeper::look_now() noexcept { looks_now_ = options_.lease.budget.renews; }

void Keeper::stop(const Patience& patience) {
  stopped_ = true;
  // A renewal that arrives behind the release would find nothing and say "not ours".
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
  // Last, after what this turn has brought: a renewal that came in time counts.
  lose(options_.lease.budget.renews
           ? fmt::format("it could not be renewed for {}{}{}", describe(elapsed(options_.lease.asked, now)),
                         obstacle_.empty() ? "" : ": ", obstacle_)
           : std::string{"its lease has ended (--no-renew)"},
       now);
}

void Keeper::begin(TimePoint now) {
  try_.emplace(now);
  looks_now_ = false;
  next_try_ = plus(now, options_.lease.budget.retry_every);  // unless it succeeds: see advance()
  for (const Part& part : options_.parts) {
    const Delivery delivery{.source = Delivery::Source::to_several, .followers = part.followers};
    try_->requests.push_back(
        redis_.post(part.lock->renew(), delivery, plus(now, options_.lease.budget.try_for)));
  }
}

void Keeper::advance(TimePoint now) {
  if (!try_) return;
  const Outcome came_to = outcome();
  if (came_to == Outcome::open) return;
  if (came_to == Outcome::not_ours) {
    taken_away_ = true;
    return lose("the server says that it is not ours any more", now);
  }
  if (came_to == Outcome::renewed && options_.sync_replicas > 0 && try_->confirmations.empty())
    return ask_for_confirmations();
  if (came_to == Outcome::renewed) {
    // From when it was posted, not from when the answer came: the server may have renewed at any time
    // between.
    options_.lease.asked = try_->asked;
    next_try_ = plus(try_->asked, options_.lease.budget.renew_every);
  }
  const bool troubled = came_to == Outcome::failed;
  const std::string obstacle = troubled ? this->obstacle() : "";
  if (troubled ? obstacle_.empty() : !said_renewed_ || !obstacle_.empty()) say(obstacle);
  if (options_.tell && obstacle.empty() != obstacle_.empty()) options_.tell(obstacle);
  said_renewed_ = said_renewed_ || !troubled;
  obstacle_ = obstacle;
  try_.reset();
}

/// For -v: the first renewal, and where trouble begins and ends.
void Keeper::say(const std::string& obstacle) const {
  const std::string what = quoted(names_of(options_.parts));
  if (!obstacle.empty()) return mention(fmt::format("could not renew {}: {}; trying again", what, obstacle));
  mention(fmt::format("renewed {}{}", what, said_renewed_ || !obstacle_.empty() ? " again" : ""));
}

/// Why the present try has failed: what the first node says that did not renew, or that has too few replicas.
std::string Keeper::obstacle() const {
  for (std::size_t part = 0; part < options_.parts.size(); ++part) {
    const Votes& votes = try_->requests[part].votes();
    for (std::size_t node = 0; node < votes.size(); ++node) {
      const std::string why = why_unanswered(*options_.parts[part].lock, votes[node]);
      if (!why.empty()) return redis_.nodes() == 1 ? why : fmt::format("{}: {}", redis_.str(node), why);
    }
  }
  for (const auto& [connection, request] : try_->confirmations) {
    for (const Vote& vote : request.votes()) {
      const auto missing = replicas_missing(vote, options_.sync_replicas);
      if (vote.reply && missing) return missing->text;
    }
  }
  return "";
}

/// Of all parts: the worst, where a part that is lost is worse than one that nobody answers for.
Keeper::Outcome Keeper::outcome() const {
  Outcome worst = Outcome::renewed;
  for (std::size_t part = 0; part < options_.parts.size(); ++part) {
    const Outcome one = outcome_of(*options_.parts[part].lock, try_->requests[part].votes());
    if (one == Outcome::not_ours) return one;
    if (one == Outcome::failed || worst == Outcome::renewed) worst = one;
  }
  return worst;
}

/// A part must be ours at a quorum. It is lost as soon as so many nodes say "not ours" that no quorum is
/// left.
Keeper::Outcome Keeper::outcome_of(const Lockable& lock, const Votes& votes) const {
  std::map<Outcome, std::size_t> count;
  for (const Vote& vote : votes) ++count[outcome_of(lock, vote)];
  const std::size_t quorum = redis_.quorum();
  if (count[Outcome::not_ours] > votes.size() - quorum) return Outcome::not_ours;
  if (count[Outcome::renewed] >= quorum) return Outcome::renewed;
  return count[Outcome::renewed] + count[Outcome::open] < quorum ? Outcome::failed : Outcome::open;
}

Keeper::Outcome Keeper::outcome_of(const Lockable& lock, const Vote& vote) const {
  if (!vote.settled()) return Outcome::open;
  const RenewAnswer answer = answer_of(lock, vote);
  if (std::holds_alternative<Failure>(answer)) return Outcome::failed;
  if (std::holds_alternative<NotOurs>(answer)) return Outcome::not_ours;
  return try_->confirmations.empty() ? Outcome::renewed : outcome_of_confirmation(vote.connection);
}

Keeper::Outcome Keeper::outcome_of_confirmation(std::uint64_t connection) const {
  const auto found = try_->confirmations.find(connection);
  if (found == try_->confirmations.end())
    return Outcome::failed;  // its reply came after the confirmations were asked for: nobody has asked it
  const Votes& votes = found->second.votes();
  const bool confirmed = std::ranges::any_of(
      votes, [&](const Vote& vote) { return vote.reply && !replicas_missing(vote, options_.sync_replicas); });
  if (confirmed) return Outcome::renewed;
  return found->second.settled() ? Outcome::failed : Outcome::open;
}

/// WAIT goes once to each connection that has renewed something: it speaks of all that was written on it.
void Keeper::ask_for_confirmations() {
  const TimePoint until = plus(redis_.loop().now(), options_.sync_timeout + options_.lease.budget.try_for);
  std::map<std::uint64_t, Redis::Request> confirmations;
  for (const Redis::Request& request : try_->requests) {
    for (const Vote& vote : request.votes()) {
      if (vote.good_reply() == nullptr || confirmations.contains(vote.connection)) continue;
      confirmations[vote.connection] =
          redis_.post(await_replicas_call(options_.sync_replicas, options_.sync_timeout),
                      await_replicas_delivery(options_.sync_timeout, vote.connection), until);
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
