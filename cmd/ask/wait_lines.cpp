// The wait lines that users read. note_waiting() takes the last answer to the wait, before each sleep and each wait for
// replicas. A line becomes due by the clock, by USR1, or because the holder has changed (want()). A due line starts an
// inquiry about the holder (WaitNews). The line is printed when the inquiry ends. A silent server must not delay it, so
// at wanted_by_ it is printed with what is known then.
//
// Inquiries are made for lines only. So a wait with -q sends only its own calls, unless USR1 asks for a line.

#include "cmd/ask/wait_lines.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/key_text.h"
#include "base/log.h"

namespace rlock {
namespace {

using namespace std::chrono_literals;

/// The least time between two lines about a new holder, because a lock may have a hundred holders a second.
constexpr Milliseconds kBetweenChanges{1s};

/// A line that USR1 asked for waits at most this long for its inquiry, so that it comes within 100 ms.
constexpr Milliseconds kUsr1Answer{80};

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
      begun_(session.now()),
      next_at_(wait_line_at(begun_, 0)),
      news_(session, subject_, begun_) {}

std::string WaitLines::since_start() const {
  return describe(std::chrono::duration_cast<Milliseconds>(session_.now() - subject_.started));
}

AcquireOptions WaitLines::options() {
  return session_.waiting(subject_.wait, subject_.started,
                          [this](const Waiting& waiting) { note_waiting(waiting); });
}

WaitNews& WaitLines::over() {
  membership_.reset();
  news_.drop();
  return news_;
}

void WaitLines::acquired() {
  over();
  debug(fmt::format("acquired {} after {}", quoted(subject_.names), since_start()));
}

void WaitLines::note_waiting(const Waiting& waiting) {
  if (subject_.observer != nullptr) subject_.observer->waiting(waiting);
  news_.take(waiting);
  if (waiting.busy == nullptr) return;
  // The reply for a plain lock or for permits names no holder.
  const std::string& holder = waiting.busy->holder;
  const bool changed = named_ && !holder.empty() && named_->str() != holder && lines_ > 0;
  const TimePoint now = session_.now();
  if (changed && verbosity() != Verbosity::quiet && now >= plus(said_at_, kBetweenChanges))
    want(plus(now, kInquiry), now);
}

TimePoint WaitLines::wake_at() const {
  if (session_.signals.questions() != questions_) return TimePoint::min();
  const TimePoint line = verbosity() == Verbosity::quiet && subject_.observer == nullptr ? kNever : next_at_;
  return earliest(news_.wake_at(), earliest(wanted_by_, line));
}

void WaitLines::ready(short, TimePoint now) {
  if (std::exchange(questions_, session_.signals.questions()) != session_.signals.questions())
    want(plus(now, kUsr1Answer), now);
  const bool due = now >= next_at_;
  while (now >= next_at_) next_at_ = wait_line_at(begun_, ++lines_);
  if (due && verbosity() != Verbosity::quiet) want(plus(now, kInquiry), now);
  if (due && verbosity() == Verbosity::quiet) static_cast<void>(report_trouble(now));
  news_.advance();
  const bool waits = news_.asks() && now < wanted_by_;
  if (wanted_by_ != kNever && !waits) say(now);
}

/// Makes a line due: it is printed at this time at the latest.
void WaitLines::want(TimePoint by, TimePoint now) {
  wanted_by_ = earliest(wanted_by_, by);
  news_.ask(now);
}

std::optional<std::string> WaitLines::report_trouble(TimePoint now) {
  auto why = news_.trouble(now);
  if (subject_.observer != nullptr) subject_.observer->trouble(why.value_or(""));
  return why;
}

void WaitLines::say(TimePoint now) {
  wanted_by_ = kNever;
  if (session_.signals.any()) return;  // LastWord::interrupted() says the last line
  said_at_ = now;
  if (const auto why = report_trouble(now)) {
    const bool retries = !subject_.wait.nonblock && session_.redis.keeps_trying();
    return warn(news_.server_text(*why, now) + (retries ? "; retrying" : ""));
  }
  const WaitView view = news_.view(now);
  warn("waiting for " + wait_text(view, Moment::waiting));
  named_ = named_holder(view);
  news_.grow_old();
}

}  // namespace rlock
