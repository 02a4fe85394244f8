// after() reports why we wait, and sleeps in steps. Each step, sleep_once():
//
//   listens    to the channels that can end the sleep: of our place in the line, else of the lock. If we pause behind
//              others, to none.
//   plans      when to ask without a message (Pacing).
//   sleeps     until that time, or until a message or a lost connection is a reason to ask earlier.
//
// A message about our place in the line may only move it up. Then after() takes another step, at the new pace, and does
// not ask. Such steps and the questions after messages have one limit, because any client may send messages.
//
// Before the wait ends there is a last question, so that a silent server is not taken for a busy lock.

#include "sync/wait/sleep.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rlock {
namespace {

/// Our line if the last round gave us a place in it.
const Line* line_of(const Blocked& blocked) {
  return blocked.result.busy() != nullptr ? blocked.what.line(*blocked.busy) : nullptr;
}

Milliseconds pause_behind_others(const Blocked& blocked) {
  return blocked.busy ? Line::pause_behind_others(*blocked.busy) : Milliseconds{0};
}

/// When to ask for the last time, if no other reason to ask comes. If the server is silent then, its connection counts
/// as lost before the wait ends. So the wait does not end as busy, although the place in the line may be one that asks
/// only every few minutes.
TimePoint last_question(const AcquireOptions& options) {
  constexpr Milliseconds kBefore{500};  // to notice that the connection is lost, and to ask on a new one
  return options.patience.until - options.call_timeout - kBefore;
}

std::vector<Channel> channels_for(const Blocked& blocked) {
  if (const Line* const line = line_of(blocked)) return line->channels(*blocked.busy);
  // A waiter that pauses behind others listens to nothing, because to listen it would connect at once.
  const bool pauses = blocked.result.busy() == nullptr && pause_behind_others(blocked) > Milliseconds{0};
  return pauses ? std::vector<Channel>{} : blocked.what.channels();
}

}  // namespace

Sleep::Sleep(Redis& redis, const AcquireOptions& options, WaitFor wait_for)
    : redis_(redis),
      options_(options),
      several_nodes_(redis.nodes() > 1),
      wait_for_(wait_for),
      mailbox_(std::make_shared<Mailbox>(redis)) {}

/// `ask_by`: when to ask even if messages about our place come all the time. It is at most the time that the last
/// answer asks for, which the first step has planned.
Sleep::News Sleep::after(Blocked blocked) {
  TimePoint ask_by = kNever;
  for (;;) {
    const auto [slept, planned] = sleep_once(blocked, ask_by);
    if (slept == Slept::until_due) return {std::move(blocked.busy), blocked.outage};
    if (ask_by == kNever) ask_by = planned;
    ask_by = earliest(ask_by, plus(redis_.loop().now(), Line::pace(*blocked.busy)));
  }
}

Sleep::Step Sleep::sleep_once(Blocked& blocked, TimePoint ask_by) {
  const BallotResult& result = blocked.result;
  const Busy* const answer = result.busy() != nullptr ? &*blocked.busy : nullptr;
  mailbox_->listen_to(channels_for(blocked));
  options_.report({.busy = answer, .failure = result.failure(), .what = blocked.what});
  const bool in_line = line_of(blocked) != nullptr;
  const TimePoint now = redis_.loop().now(), last = last_question(options_);
  Pacing::Plan plan =
      pacing_.after({.several_nodes = several_nodes_,
                     .split = result.split,
                     .failed = result.failure() != nullptr,
                     .busy = answer,
                     .took = blocked.took,
                     .announced = !blocked.what.channels().empty() && !redis_.subscribe_error(),
                     .poll_every = in_line ? Line::kSleepsAtMost : blocked.what.poll_every(),
                     .pause = blocked.what.pause(),
                     .behind = pause_behind_others(blocked)},
                    now);
  plan.until = earliest(plan.until, ask_by);
  if (now < last) plan.until = earliest(plan.until, last);
  sleep_until(earliest(plan.ignore_wakeups_until, plan.until));
  if (!plan.wakeups_end_it) {
    facts_ = FactsThere::unknown;  // the server may come back without them
    sleep_until(earliest(plan.until, blocked.outage.limit()));
  }
  if (plan.wakeups_end_it && until_wakeup(blocked, plan.until) == Slept::moved_up)
    return {Slept::moved_up, plan.until};
  sleep_until(plus(redis_.loop().now(), plan.extra));
  return {Slept::until_due, plan.until};
}

/// Sleeps until `latest`, or until there is a reason to ask earlier or to sleep at another pace.
Sleep::Slept Sleep::until_wakeup(Blocked& blocked, TimePoint latest) {
  Wakeup wakeup{.latest = earliest(latest, options_.patience.until), .losses = losses_};
  for (;;) {
    const TimePoint now = redis_.loop().now();
    read_messages(blocked, now, wakeup);
    note_losses(blocked, now, wakeup);
    const bool told = wakeup.by_message != kNever;
    const TimePoint ask_at = earliest(wakeup.latest, wakeup.by_message);
    if (now >= ask_at || options_.patience.interrupted()) {
      if (told) pacing_.count_wakeup(now);
      facts_ = facts_after(wakeup, blocked);
      return Slept::until_due;
    }
    const bool asks_soon = told || lost_a_connection(wakeup);  // whatever its place
    const TimePoint move_at = wakeup.moved && !asks_soon ? pacing_.ask_after_wakeup() : kNever;
    if (now >= move_at) {
      pacing_.count_wakeup(now);
      return Slept::moved_up;
    }
    redis_.loop().turn(earliest(ask_at, move_at));
  }
}

/// If a connection was lost, the server may have lost our facts with it. They also go along if a grant is likely: after
/// a message, at the front of the line, and for a lock without a line. A grant without them needs one more call
/// (Round::write_facts()).
FactsThere Sleep::facts_after(const Wakeup& wakeup, const Blocked& blocked) const {
  const bool at_front =
      line_of(blocked) != nullptr ? *blocked.busy->position <= Line::kListening : wait_for_ == WaitFor::lock;
  return wakeup.by_text || lost_a_connection(wakeup) || at_front ? FactsThere::unknown : FactsThere::known;
}

void Sleep::read_messages(Blocked& blocked, TimePoint now, Wakeup& wakeup) {
  for (const Message& message : mailbox_->take()) {
    const Line::Notice notice = blocked.result.busy() != nullptr
                                    ? blocked.what.read_notice(message, *blocked.busy)
                                    : Line::Notice::reason();
    wakeup.moved = wakeup.moved || notice.place;
    if (notice.place) Line::move_up(*blocked.busy, notice, now);
    if (!notice.ask_after) continue;
    const TimePoint wanted = std::max(plus(now, *notice.ask_after), pacing_.ask_after_wakeup());
    wakeup.by_message = notice.not_before ? wanted : earliest(wanted, wakeup.by_message);
    wakeup.by_text = wakeup.by_text || message.text;
  }
}

/// If a connection was lost, messages may have been lost with it. So we ask again soon, but only after the
/// waiters before us in the line.
void Sleep::note_losses(Blocked& blocked, TimePoint now, Wakeup& wakeup) {
  if (std::exchange(wakeup.losses, redis_.losses()) == redis_.losses()) return;
  blocked.outage.begin(now);
  const Milliseconds pause = pause_behind_others(blocked);
  wakeup.latest = earliest(wakeup.latest, earliest(plus(now, pause), blocked.outage.limit()));
  if (pause > Milliseconds{0}) mailbox_->listen_to({});  // to listen would connect at once
}

void Sleep::sleep_until(TimePoint end) {
  end = earliest(end, options_.patience.until);
  redis_.loop().wait({end, options_.patience.interrupted}, [] { return false; });
}

}  // namespace rlock
