// The wait lines that users read. note_waiting() takes the last answer to the wait, before each sleep and each wait for
// replicas. A line becomes due by the clock, by USR1, or because the holder has changed (want()). A due line starts an
// Inquiry about the holder. The line is printed when the inquiry ends. A silent server must not delay it, so at
// wanted_by_ it is printed with what is known then. The last line comes from report_not_held() and interrupted(), which
// turn the loop for its inquiry.
//
// Inquiries are made for lines only. So a wait with -q sends only its own calls, unless USR1 asks for a line.

#include "cmd/ask/wait_lines.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/as_given.h"
#include "base/key_text.h"
#include "base/log.h"
#include "cmd/cli/exit_code.h"

namespace rlock {
namespace {

using namespace std::chrono_literals;

/// The least time between two lines about a new holder, because a lock may have a hundred holders a second.
constexpr Milliseconds kBetweenChanges{1s};

/// A line waits at most this long for its inquiry about the holder. With -w 2s, the undo and the last line
/// are done within 3 s.
constexpr Milliseconds kInquiry{250};
/// A line that USR1 asked for waits at most this long, so that it comes within 100 ms.
constexpr Milliseconds kUsr1Answer{80};

/// If the last answer is older than this, and the server does not answer now, the line says so.
constexpr Milliseconds kOldNews{1s};

Failure failure_of(const GaveUp& gave_up) { return gave_up.failure.value_or(no_answer()); }

}  // namespace

TimePoint wait_line_at(TimePoint begun, std::size_t number) {
  constexpr std::array<Milliseconds, 4> kFirst{1s, 5s, 15s, 30s};
  constexpr Milliseconds kThenEvery{60s};
  if (number < kFirst.size()) return plus(begun, kFirst[number]);
  return plus(begun, kThenEvery * static_cast<std::int64_t>(number - kFirst.size() + 1));
}

WaitLines::WaitLines(Session& session, WaitSubject subject)
    : session_(session),
      subject_(std::move(subject)),
      begun_(session.loop.now()),
      next_at_(wait_line_at(begun_, 0)),
      inquiry_(session.redis) {}

AcquireOptions WaitLines::options() {
  return session_.waiting(subject_.wait, subject_.started,
                          [this](const Waiting& waiting) { note_waiting(waiting); });
}

void WaitLines::over() {
  membership_.reset();
  inquiry_.drop();
}

void WaitLines::acquired() {
  over();
  debug(fmt::format("acquired {} after {}", quoted(subject_.names), since_start()));
}

void WaitLines::note_waiting(const Waiting& waiting) {
  if (subject_.observer != nullptr) subject_.observer->waiting(waiting);
  unconfirmed_ = waiting.unconfirmed;
  failure_ = waiting.failure != nullptr ? std::optional{*waiting.failure} : std::nullopt;
  if (waiting.busy == nullptr) return;
  busy_ = *waiting.busy;
  const Owner* const asker = waiting.what.asker();
  asker_ = asker != nullptr ? *asker : Owner{};
  channel_.reset();
  if (!busy_->position && !waiting.what.channels().empty()) channel_ = waiting.what.channels().front();
  // The reply for a plain lock or for permits names no holder.
  const bool changed = named_ && !busy_->holder.empty() && named_->str() != busy_->holder && lines_ > 0;
  const TimePoint now = session_.loop.now();
  if (changed && verbosity() != Verbosity::quiet && now >= plus(said_at_, kBetweenChanges))
    want(plus(now, kInquiry), now);
}

TimePoint WaitLines::wake_at() const {
  if (session_.signals.questions() != questions_) return TimePoint::min();
  const TimePoint line = verbosity() == Verbosity::quiet && subject_.observer == nullptr ? kNever : next_at_;
  return earliest(inquiry_.wake_at(), earliest(wanted_by_, line));
}

void WaitLines::ready(short, TimePoint now) {
  if (std::exchange(questions_, session_.signals.questions()) != session_.signals.questions())
    want(plus(now, kUsr1Answer), now);
  const bool due = now >= next_at_;
  while (now >= next_at_) next_at_ = wait_line_at(begun_, ++lines_);
  if (due && verbosity() != Verbosity::quiet) want(plus(now, kInquiry), now);
  if (due && verbosity() == Verbosity::quiet) static_cast<void>(report_trouble(now));
  advance();
  const bool waits = inquiry_.under_way() && !fresh_ && now < wanted_by_;
  if (wanted_by_ != kNever && !waits) say(now);
}

/// Makes a line due: it is printed at this time at the latest. While the grant waits for replicas, nothing is asked, because
/// the question would wait behind that.
void WaitLines::want(TimePoint by, TimePoint now) {
  wanted_by_ = earliest(wanted_by_, by);
  const bool recent = inquiry_.under_way() && now < plus(inquiry_.begun_at(), kInquiry);
  if (busy_ && !failure_ && !unconfirmed_ && !recent) begin_inquiry();
}

void WaitLines::begin_inquiry() {
  fresh_ = false;
  inquiry_.glance(busy_->key, asker_, channel_, session_.deployment.timeouts.command);
}

void WaitLines::advance() {
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

WaitView WaitLines::view(TimePoint now) const {
  return {.now = now,
          .busy = *busy_,
          .state = subject_.state,
          .is_pool = subject_.is_pool,
          .seen = fresh_ && seen_ ? &*seen_ : nullptr,
          .seen_once = seen_ ? &*seen_ : nullptr,
          .listeners = channel_ ? listeners_ : 0,
          .above = above_};
}

/// Why the server cannot be asked, as far as the newest attempt shows. Empty: it answers.
std::optional<std::string> WaitLines::trouble(TimePoint now) const {
  if (const auto newest = session_.redis.trouble()) return newest->text;
  if (failure_) return failure_->text;
  if (unconfirmed_)
    return "too few replicas have confirmed yet (--sync-replicas); see INFO replication on the server";
  if (!busy_)
    return session_.redis.contacted() ? std::string{"it has answered, but not this request"}
                                      : "no answer for " + describe(elapsed(begun_, now));
  const bool old = !fresh_ && now >= plus(busy_->seen_at, kOldNews);
  if (old && session_.redis.given_away_silent()) return "no answer";
  if (!old || !inquiry_.under_way()) return std::nullopt;
  return fmt::format("no answer for {}", describe(elapsed(inquiry_.begun_at(), now)));
}

std::optional<std::string> WaitLines::report_trouble(TimePoint now) {
  auto why = trouble(now);
  if (subject_.observer != nullptr) subject_.observer->trouble(why.value_or(""));
  return why;
}

std::string WaitLines::server_text(std::string_view why, TimePoint now) const {
  return fmt::format("waiting for redis at {}: {}{}", session_.redis.str(), why, known_text(now));
}

std::string WaitLines::known_text(TimePoint now) const {
  if (!busy_) return "";
  WaitView then = view(now);
  then.seen = nullptr;
  then.listeners = 0;
  return fmt::format("; {} ago {}", describe(elapsed(busy_->seen_at, now)), wait_text(then, Moment::past));
}

std::string WaitLines::describe_failure(const GaveUp& gave_up, std::string_view then) {
  over();
  busy_ = gave_up.busy;
  return session_.describe(failure_of(gave_up), known_text(session_.loop.now()) + std::string{then});
}

void WaitLines::say(TimePoint now) {
  wanted_by_ = kNever;
  if (session_.signals.any()) return;  // interrupted() says the last line
  said_at_ = now;
  if (const auto why = report_trouble(now)) {
    const bool retries = !subject_.wait.nonblock && session_.redis.keeps_trying();
    return warn(server_text(*why, now) + (retries ? "; retrying" : ""));
  }
  warn("waiting for " + wait_text(view(now), Moment::waiting));
  named_ = named_holder(view(now));
  fresh_ = false;
}

void WaitLines::inquire_for_the_last_word(const GaveUp& gave_up) {
  busy_ = gave_up.busy;
  failure_ = gave_up.failure;
  channel_.reset();  // we do not wait any more
  fresh_ = false;
  if (!busy_ || failure_ || session_.redis.given_away()) return;
  begin_inquiry();
  const Patience patience{plus(session_.loop.now(), kInquiry),
                          [this] { return session_.signals.insisted(); }};
  session_.loop.wait(patience, [this] {
    advance();
    return !inquiry_.under_way();
  });
}

std::string WaitLines::since_start() const {
  return describe(std::chrono::duration_cast<Milliseconds>(session_.loop.now() - subject_.started));
}

int WaitLines::report_not_held(const GaveUp& gave_up, std::string_view then) {
  if (gave_up.why == GaveUp::Why::busy) {
    say_busy(gave_up);
    return subject_.wait.conflict_exit_code;
  }
  if (gave_up.refused) {
    warn(gave_up.refused->text);
    return exit_code::wrong_type;
  }
  warn(describe_failure(gave_up, then));
  return exit_code::of(failure_of(gave_up).kind);
}

void WaitLines::say_busy(const GaveUp& gave_up) {
  const std::string waited = since_start();
  over();
  if (verbosity() == Verbosity::quiet || !gave_up.busy) return;
  inquire_for_the_last_word(gave_up);
  const TimePoint now = session_.loop.now();
  const WaitView last = view(now);
  const std::string configured = as_given("wait", "");
  const std::string effort = subject_.wait.nonblock
                                 ? fmt::format("not waiting ({}): ", subject_.wait.nonblock_as_given())
                                 : fmt::format("gave up after {}{}: ", waited,
                                               configured.empty() ? "" : fmt::format(" ({})", configured));
  if (const auto why = trouble(now)) return info(fmt::format("{}{}{}", effort, *why, known_text(now)));
  info(effort + wait_text(last, Moment::over));
  const std::string remedy = wait_remedy(last, words_for(busy_->key));
  if (!remedy.empty()) info(remedy);
}

void WaitLines::superseded(const Refused& why) {
  const std::string waited = since_start();
  over();
  info(fmt::format("gave up after {}: {}", waited, why.text));
}

void WaitLines::interrupted(int signal, const GaveUp& gave_up) {
  const std::string effort = fmt::format("{} after {}: ", signal_name(signal), since_start());
  over();
  if (verbosity() == Verbosity::quiet) return;
  inquire_for_the_last_word(gave_up);
  const TimePoint now = session_.loop.now();
  const auto why = trouble(now);
  info(effort + (why ? server_text(*why, now) : wait_text(view(now), Moment::over)));
}

}  // namespace rlock
