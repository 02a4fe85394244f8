#include "sync/keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "sync/replicas.h"

namespace rlock {

Keeper::Keeper(Redis& redis, Options options)
    : redis_(redis),
      options_(std::move(options)),
      next_try_(options_.lease.budget.renews ? later(options_.lease.asked, options_.lease.budget.renew_every)
                                             : kNever) {
  redis_.loop().join(*this);
}

Keeper::~Keeper() {
  finish();
  redis_.loop().leave(*this);
}

TimePoint Keeper::stop_at() const { return lost() ? lost_at_ : options_.lease.stop_at(); }

TimePoint Keeper::kill_at() const {
  if (!lost()) return options_.lease.kill_at();
  // Somebody else may hold it already: the grace runs from now, and never beyond what we were sure of anyway.
  return earliest(later(lost_at_, options_.lease.budget.lost_grace), options_.lease.kill_at());
}

void Keeper::stop(const Patience& patience) {
  stopped_ = true;
  while (try_ && !lost() && !patience.ended()) {
    redis_.loop().turn(patience.until);
    look(Clock::now());
  }
  finish();
}

TimePoint Keeper::wake_at() const {
  if (lost()) return kNever;
  TimePoint at = options_.lease.stop_at();
  if (try_) {
    const bool answered =
        std::ranges::any_of(try_->requests, [&](auto request) { return redis_.settled(request); });
    return answered ? TimePoint::min() : at;
  }
  return stopped_ ? at : earliest(at, next_try_);
}

void Keeper::ready(short, TimePoint now) {
  if (lost()) return;
  look(now);
  if (!lost() && !try_ && !stopped_ && now >= next_try_) begin(now);
  if (lost() || now < options_.lease.stop_at()) return;
  lose(options_.lease.budget.renews
           ? fmt::format("it could not be renewed for {}", describe(left(now, options_.lease.asked)))
           : std::string{"its lease has ended (--no-renew)"},
       now);
}

void Keeper::begin(TimePoint now) {
  try_ = Try{.asked = now, .requests = {}, .confirming = false};
  next_try_ = later(now, options_.lease.budget.retry_every);
  for (const Part& part : options_.parts) {
    Call call = part.lock->renew();
    call.escort = part.escort;
    try_->requests.push_back(
        redis_.post(call, later(now, options_.lease.budget.try_for), Redis::Insist::once));
  }
}

void Keeper::look(TimePoint now) {
  if (!try_) return;
  const Outcome outcome = try_->confirming ? outcome_of_confirmations() : outcome_of_renewals();
  if (outcome == Outcome::open) return;
  if (outcome == Outcome::not_ours) return lose("the server says that it is not ours any more", now);
  if (outcome == Outcome::renewed && !try_->confirming && options_.sync_replicas > 0)
    return ask_for_confirmations();
  if (outcome == Outcome::renewed) {
    options_.lease.asked = try_->asked;
    next_try_ = later(try_->asked, options_.lease.budget.renew_every);
  }
  finish();
}

/// Every part must be ours at a quorum. A part that a quorum can no longer be ours at is lost.
Keeper::Outcome Keeper::outcome_of_renewals() const {
  Outcome outcome = Outcome::renewed;
  for (std::size_t part = 0; part < options_.parts.size(); ++part) {
    const Votes& votes = redis_.votes(try_->requests[part]);
    std::size_t ours = 0;
    std::size_t denied = 0;
    std::size_t open = 0;
    for (const Vote& vote : votes) {
      if (!vote.settled()) {
        ++open;
      } else if (vote.answer() != nullptr) {
        ++(options_.parts[part].lock->read_renewal(*vote.reply) ? ours : denied);
      }
    }
    if (denied > votes.size() - redis_.quorum()) return Outcome::not_ours;
    if (ours >= redis_.quorum()) continue;
    if (open > 0) return Outcome::open;
    outcome = Outcome::failed;
  }
  return outcome;
}

/// WAIT goes to each deployment that has renewed, on the connection that said so.
void Keeper::ask_for_confirmations() {
  std::vector<Redis::Request> confirmations;
  const Milliseconds patience = options_.sync_timeout + options_.lease.budget.try_for;
  for (const auto request : try_->requests) {
    for (const Vote& vote : redis_.votes(request)) {
      if (vote.answer() == nullptr) continue;
      const Call call = await_replicas_call(options_.sync_replicas, options_.sync_timeout, vote.connection);
      confirmations.push_back(redis_.post(call, later(Clock::now(), patience), Redis::Insist::once));
    }
  }
  for (const auto request : try_->requests) redis_.drop(request);
  try_->requests = std::move(confirmations);
  try_->confirming = true;
}

Keeper::Outcome Keeper::outcome_of_confirmations() const {
  std::size_t confirmed = 0;
  for (const auto request : try_->requests) {
    if (!redis_.settled(request)) return Outcome::open;
    confirmed += static_cast<std::size_t>(std::ranges::any_of(redis_.votes(request), [&](const Vote& vote) {
      return vote.reply && !replicas_missing(vote, options_.sync_replicas);
    }));
  }
  return confirmed >= redis_.quorum() * options_.parts.size() ? Outcome::renewed : Outcome::failed;
}

void Keeper::finish() {
  if (!try_) return;
  for (const auto request : try_->requests) redis_.drop(request);
  try_.reset();
}

void Keeper::lose(std::string why, TimePoint now) {
  why_ = std::move(why);
  lost_at_ = now;
  finish();
}

}  // namespace rlock
