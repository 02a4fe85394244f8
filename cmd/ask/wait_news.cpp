#include "cmd/ask/wait_news.h"

#include <fmt/format.h>

namespace rlock {
namespace {

/// If the last answer is older than this, and the server does not answer now, the line says so.
constexpr Milliseconds kOldNews{1000};

}  // namespace

WaitNews::WaitNews(Session& session, const WaitSubject& subject, TimePoint begun)
    : session_(session), subject_(subject), begun_(begun), inquiry_(session.redis) {}

void WaitNews::take(const Waiting& waiting) {
  unconfirmed_ = waiting.unconfirmed;
  failure_ = waiting.failure != nullptr ? std::optional{*waiting.failure} : std::nullopt;
  if (waiting.busy == nullptr) return;
  busy_ = *waiting.busy;
  const Owner* const asker = waiting.what.asker();
  asker_ = asker != nullptr ? *asker : Owner{};
  channel_.reset();
  if (!busy_->position && !waiting.what.channels().empty()) channel_ = waiting.what.channels().front();
}

void WaitNews::take(const GaveUp& gave_up) {
  busy_ = gave_up.busy;
  failure_ = gave_up.failure;
  channel_.reset();  // we do not wait any more
  fresh_ = false;
}

void WaitNews::ask(TimePoint now) {
  const bool recent = inquiry_.under_way() && now < plus(inquiry_.begun_at(), kInquiry);
  if (!busy_ || failure_ || unconfirmed_ || recent) return;  // unconfirmed: it would wait behind WAIT
  fresh_ = false;
  inquiry_.glance(busy_->key, asker_, channel_, session_.deployment.timeouts.command);
}

void WaitNews::advance() {
  if (!inquiry_.under_way()) return;
  inquiry_.advance();
  if (inquiry_.under_way()) return;
  const std::vector<Inspection> seen = inquiry_.seen();
  if (seen.empty()) return;
  seen_ = agreed(seen);
  above_.clear();
  for (const Holder& holder : seen_->holders)
    if (holder.facts && names_ancestor(*holder.facts)) above_.push_back(holder.owner);
  listeners_ = inquiry_.listeners();
  fresh_ = true;
}

WaitView WaitNews::view(TimePoint now) const {
  return {.now = now,
          .busy = *busy_,
          .state = subject_.state,
          .is_pool = subject_.is_pool,
          .seen = fresh_ && seen_ ? &*seen_ : nullptr,
          .seen_once = seen_ ? &*seen_ : nullptr,
          .listeners = channel_ ? listeners_ : 0,
          .above = above_};
}

std::optional<std::string> WaitNews::trouble(TimePoint now) const {
  if (const auto newest = session_.redis.trouble()) return newest->text;
  if (failure_) return failure_->text;
  if (unconfirmed_)
    return "too few replicas have confirmed yet (--sync-replicas); see INFO replication on the server";
  if (!busy_)
    return session_.contacted() ? std::string{"it has answered, but not this request"}
                                : "no answer for " + describe(elapsed(begun_, now));
  const bool old = !fresh_ && now >= plus(busy_->seen_at, kOldNews);
  if (old && session_.given_away_silent()) return "no answer";
  if (!old || !inquiry_.under_way()) return std::nullopt;
  return fmt::format("no answer for {}", describe(elapsed(inquiry_.begun_at(), now)));
}

std::string WaitNews::server_text(std::string_view why, TimePoint now) const {
  return fmt::format("waiting for redis at {}: {}{}", session_.servers(), why, known_text(now));
}

std::string WaitNews::known_text(TimePoint now) const {
  if (!busy_) return "";
  WaitView then = view(now);
  then.seen = nullptr;
  then.listeners = 0;
  return fmt::format("; {} ago {}", describe(elapsed(busy_->seen_at, now)), wait_text(then, Moment::past));
}

}  // namespace rlock
