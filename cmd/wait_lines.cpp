#include "cmd/wait_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ancestry.h"
#include "base/identity.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/holder_text.h"
#include "sync/keys.h"

namespace rlock {
namespace {

using namespace std::chrono_literals;

/// When lines come, counted from rlock's start; then every minute.
constexpr std::array<Milliseconds, 4> kLinesAt{1s, 5s, 15s, 30s};
constexpr Milliseconds kThenEvery{60s};

/// How long we may ask about a holder: what it is for is not worth holding up a wait. With it and with what a failed wait
/// gives back, a wait of 2 s is over within 3 s.
constexpr Milliseconds kAsking{250};

TimePoint line_at(TimePoint started, std::size_t number) {
  if (number < kLinesAt.size()) return later(started, kLinesAt[number]);
  return later(started, kThenEvery * static_cast<std::int64_t>(number - kLinesAt.size() + 1));
}

std::string ordinal(std::int64_t number) {
  const auto tens = number % 100;
  const char* end = tens >= 11 && tens <= 13 ? "th"
                    : number % 10 == 1       ? "st"
                    : number % 10 == 2       ? "nd"
                    : number % 10 == 3       ? "rd"
                                             : "th";
  return fmt::format("{}{}", number, end);
}

/// What one of several servers knows; nil where those that answer know nothing.
const Reply* answer_of(const Votes& votes) {
  const Reply* nil = nullptr;
  for (const Vote& vote : votes) {
    if (vote.answer() == nullptr) continue;
    if (!vote.answer()->is_nil()) return vote.answer();
    nil = vote.answer();
  }
  return nil;
}

/// What is left now of the rest that was named when the server last said "busy".
Milliseconds rest_now(const Busy& busy) { return left(later(busy.heard, *busy.rest), Clock::now()); }

}  // namespace

WaitLines::WaitLines(Executor& redis, const Signals& signals, WaitSubject subject)
    : redis_(redis),
      signals_(signals),
      subject_(std::move(subject)),
      next_at_(line_at(subject_.started, 0)) {}

bool WaitLines::due(TimePoint now) {
  const bool asked = signals_.questions() > questions_;
  questions_ = signals_.questions();
  const bool time = now >= next_at_;
  while (now >= next_at_) next_at_ = line_at(subject_.started, ++lines_);
  return asked || (time && verbosity() != Verbosity::quiet);
}

void WaitLines::look(const Waiting& waiting) {
  const TimePoint now = Clock::now();
  const bool time = due(now);
  if (waiting.busy == nullptr) {
    if (time && waiting.failure != nullptr)
      complain(fmt::format("waiting for redis at {}: {}", redis_.str(), waiting.failure->text));
    return;
  }
  const LockName& name = name_of(*waiting.busy, waiting.part);
  const bool changed = holder_ && holder_->owner.str() != waiting.busy->holder;
  if (!time && !(changed && lines_ > 0 && verbosity() != Verbosity::quiet)) return;
  Patience patience = within(kAsking);
  patience.until = earliest(patience.until, subject_.wait.until(subject_.started));
  if (patience.until <= now) return;  // the last word follows at once
  ask_about(*waiting.busy, name, waiting.what, patience);
  complain("waiting for " + line(*waiting.busy, name, Moment::waiting));
}

const LockName& WaitLines::name_of(const Busy& busy, std::size_t part) const {
  const auto named = std::ranges::find(subject_.names, busy.member, &LockName::str);
  return named != subject_.names.end() ? *named : subject_.names[part];
}

void WaitLines::ask_about(const Busy& busy, const LockName& name, const Waitable* what,
                          const Patience& patience) {
  const bool same = holder_ && holder_->owner.str() == busy.holder;
  if (!same) holder_ = Holder{.owner = Owner{busy.holder}};
  holder_->now.reset();
  // One server that is frozen must not cost us what the others say.
  const auto enough_from = [&](const Votes& votes) {
    const auto answers =
        std::ranges::count_if(votes, [](const Vote& vote) { return vote.answer() != nullptr; });
    return static_cast<std::size_t>(answers) < redis_.quorum() ? kNever : TimePoint::min();
  };
  const auto ask = [&](std::vector<std::string> words, const std::string& key) {
    return redis_.run(command(std::move(words), key), patience, Redis::Insist::persist, enough_from);
  };
  const auto channels = what != nullptr && !busy.position ? what->channels() : std::vector<Channel>{};
  if (!channels.empty()) {
    const Votes votes = ask({"PUBSUB", "NUMSUB", channels.front().str()}, name.str());
    const Reply* count = answer_of(votes);
    if (count != nullptr && count->kind() == Reply::Kind::array) holder_->listeners = count->at(1).integer();
  }
  if (busy.holder.empty()) return;
  const Votes votes = ask({"HGET", metadata_key(name), busy.holder}, metadata_key(name));
  const Reply* facts = answer_of(votes);
  if (facts == nullptr || facts->is_error()) return;  // what was known before will do
  holder_->looked_up = true;
  holder_->facts = facts->kind() == Reply::Kind::text ? parse_metadata(facts->text()) : std::nullopt;
  if (!holder_->facts) return;
  const Votes times = ask({"TIME"}, name.str());
  const Reply* time = answer_of(times);
  if (time == nullptr || time->kind() != Reply::Kind::array) return;
  holder_->now = Milliseconds{time->at(0).integer() * 1000 + time->at(1).integer() / 1000};
}

std::string WaitLines::line(const Busy& busy, const LockName& name, Moment moment) const {
  std::string text = in_quotes(name.str());
  const std::string_view is = moment == Moment::over ? " is" : ":";
  if (!holder_ || holder_->owner.empty()) {
    if (!subject_.state.empty())
      text += ": " + subject_.state;
    else if (busy.queue)
      text += fmt::format("{} free, and kept for the first in its queue", is);
    else if (moment == Moment::over)
      text += " is taken";
    return text + place(busy) + outlook(busy);
  }
  std::optional<Milliseconds> now = holder_->now;
  // The server's clock, when it did not say: a lease that was renewed then has this rest now.
  if (!now && holder_->facts && busy.rest)
    now = holder_->facts->renewed + holder_->facts->lease - rest_now(busy);
  text += fmt::format(
      "{} held by {}", is,
      holder_->looked_up ? holder_text(holder_->owner, holder_->facts, now) : short_owner(holder_->owner));
  const auto& facts = holder_->facts;
  if (facts && facts->host == host_name() && is_ancestor(facts->pid)) {
    text += ", an ancestor of this very process";
    if (facts->renews) return text + ": it waits for us, and we for it (was RLOCK_STACK cleared?)";
  }
  return text + place(busy) + outlook(busy);
}

std::string WaitLines::place(const Busy& busy) const {
  if (holder_ && holder_->listeners > 0) return fmt::format("; {} wait", holder_->listeners);
  if (!busy.position || !busy.queue) return "";
  return fmt::format("; {} of {}", ordinal(*busy.position), *busy.queue);
}

std::string WaitLines::outlook(const Busy& busy) const {
  if (busy.no_ttl) return "; it has no TTL and never frees itself";
  if (!busy.rest) return "";
  Milliseconds rest = rest_now(busy);
  if (!holder_ || !holder_->facts) return fmt::format("; frees in {} unless renewed", describe(rest));
  if (holder_->facts->ended_at) return fmt::format("; kept {} more by --min-hold", describe(rest));
  if (holder_->now)
    rest = std::max(holder_->facts->renewed + holder_->facts->lease - *holder_->now, Milliseconds{0});
  if (!holder_->facts->renews) return fmt::format("; ends in {}, nobody renews it", describe(rest));
  return fmt::format("; frees in {} if it is dead", describe(rest));
}

void WaitLines::give_up(const GaveUp& gave_up) {
  if (verbosity() == Verbosity::quiet || !gave_up.busy) return;
  const LockName& name = name_of(*gave_up.busy, 0);
  if (!gave_up.failure) ask_about(*gave_up.busy, name, nullptr, within(kAsking));
  const auto waited = std::chrono::duration_cast<Milliseconds>(Clock::now() - subject_.started);
  const std::string effort =
      subject_.wait.nonblock ? "not waiting (-n): " : fmt::format("gave up after {}: ", describe(waited));
  tell(effort + line(*gave_up.busy, name, Moment::over));
  const bool kept = holder_ && holder_->facts && holder_->facts->ended_at;
  if (gave_up.busy->queue && gave_up.busy->holder.empty())
    tell(fmt::format("who waits: rlock inspect -v {}", subject_.deployment.words_for(name)));
  else if (!subject_.state.empty())  // many have it together, and no one of them can be removed for all
    tell(fmt::format("who has it: rlock inspect {}", subject_.deployment.words_for(name)));
  else if (!kept)
    tell(fmt::format("if it is stale: rlock unlock {}", subject_.deployment.words_for(name)));
}

std::string unreachable_text(const std::string& where, bool named, const Failure& failure, bool may_wait) {
  const std::string what = fmt::format("cannot use redis at {}: {}", where, failure.text);
  if (failure.kind != Error::unreachable) return what;
  if (named)
    return what +
           (may_wait ? "; see --url, RLOCK_URL, or --wait to wait for it" : "; see --url and RLOCK_URL");
  return what + "; start a server there, name one by --url or RLOCK_URL, or try --url local: (a private one)";
}

}  // namespace rlock
