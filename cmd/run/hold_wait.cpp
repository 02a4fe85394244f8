// run() is one attempt after the other, each a whole wait of acquire(): most waits are one. The next attempt has
// another set of holds to join: one more when a process above us was found to hold the key, one less when the
// server says that a hold of RLOCK_STACK is gone. Both happen at most once for each hold.
//
// What watches the wait is asked after every turn of the loop (end_the_wait()), and costs the server nothing
// before the lock was found busy.

#include "cmd/run/hold_wait.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/key_text.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/view/holder_text.h"
#include "sync/kinds/arrival.h"

namespace rlock {
namespace {

/// Prints the text only on a terminal or with -v: otherwise cron would mail it from every host, every time.
void say_that_it_was_done(const std::string& text) {
  if (::isatty(STDERR_FILENO) != 0) {
    tell(text);
  } else {
    mention(text);
  }
}

Failure failure_of(const GaveUp& gave_up) {
  return gave_up.failure.value_or(Failure{Error::unreachable, "no answer"});
}

}  // namespace

HoldWait::HoldWait(Session& session, const HoldRequest& request, Metadata facts)
    : session_(session),
      request_(request),
      facts_(std::move(facts)),
      lines_(session.redis, session.signals,
             {session.deployment, request.started, request.wait, request.names,
              std::string{request.type->busy_text}}),
      above_(holds_above_us()),
      owner_(fresh_owner()),
      again_(request.again) {
  if (request.inside)
    for (const LockName& name : request.names)
      above_.push_back({std::string{request.type->name}, *request.inside, name});
  const Milliseconds answer = session.deployment.timeouts.command;
  ancestors_.emplace(session.redis, *request.type, request.joins, answer);
  // Only a nested run can be part of a deadlock. With several servers waiters do not record what they wait
  // for, so none is detected.
  if (!request.wait.nonblock && session.redis.nodes() == 1 && !above_.empty()) {
    DeadlockWatch::Options options{.gives_up = request.give_up_on_deadlock, .answer_within = answer};
    for (const InheritedHold& hold : above_) options.holds.push_back({hold.key, hold.owner});
    deadlock_.emplace(session.redis, std::move(options));
  }
  if (request.once_per) once_.emplace(session.redis, request.names.front(), answer);
  if (request.script) script_.emplace(session.loop, *request.script);
}

Acquired HoldWait::run() {
  if (request_.newest)
    if (auto gave_up = arrive()) return *std::move(gave_up);
  for (;;) {
    Acquired got = attempt();
    if (const auto* ended = std::get_if<GaveUp>(&got)) heard_busy_ = heard_busy_ || ended->heard_busy;
    if (joins_another(got)) continue;
    const auto* gave_up = std::get_if<GaveUp>(&got);
    if (gave_up != nullptr && leaves_one(*gave_up)) continue;
    if (gave_up != nullptr) return got;
    keys_->take(std::get<Taken>(got));
    lines_.acquired();
    ancestors_.reset();
    deadlock_.reset();
    once_.reset();
    return got;
  }
}

/// At each key, with one ticket for all: of two waiters for several keys the same one is newer everywhere. What is held
/// above us is joined, and concerns no waiter.
std::optional<GaveUp> HoldWait::arrive() {
  AcquireOptions patient = options();
  patient.renew_identity = nullptr;
  const std::string who = holder_text({.owner = owner_, .meta = facts_}, std::nullopt);
  for (const LockName& name : request_.names) {
    if (request_.joins && find_hold(above_, name) != nullptr) continue;
    const Claim claim{.name = name,
                      .owner = request_.owner.value_or(Owner{""}),
                      .pub_sub = session_.deployment.pub_sub(),
                      .ticket = ticket_};
    Acquired got = acquire(session_.redis, Arrival{claim, *request_.type->kind, who}, patient);
    if (auto* const gave_up = std::get_if<GaveUp>(&got)) return std::move(*gave_up);
    ticket_ = std::get<Taken>(got).held.front().fence.value_or(0);
  }
  return std::nullopt;
}

Acquired HoldWait::attempt() {
  owner_ = fresh_owner();
  return acquire(session_.redis, wish(NewIdentity::requests), options());
}

/// It names the process for which the key is held.
Owner HoldWait::fresh_owner() const {
  if (request_.owner) return *request_.owner;
  return request_.script ? new_owner(request_.script->pid) : new_owner();
}

Wish HoldWait::wish(NewIdentity renewed) {
  if (renewed == NewIdentity::owner) owner_ = fresh_owner();
  keys_.emplace(request_, facts_, owner_, ticket_, above_, again_);
  return keys_->wish();
}

AcquireOptions HoldWait::options() {
  AcquireOptions options = session_.waiting(request_.wait, request_.started, lines_.listener());
  options.renew_identity = [this](NewIdentity renewed) { return wish(renewed); };
  options.tell = [this](const Waiting& waiting) {
    lines_.hear(waiting);
    ancestors_->hear(waiting);
    count_waiters(waiting);
    if (request_.hears_wait) request_.hears_wait(waiting);
    if (deadlock_) deadlock_->hear(waiting);
    if (once_) once_->hear(waiting);
  };
  options.patience.interrupted = [this] { return session_.signals.any() || end_the_wait(); };
  options.node_timeout = node_timeout(request_.lease, session_.deployment.timeouts.command);
  options.good_for = request_.good_for;
  options.sync_replicas = static_cast<int>(request_.sync_replicas);
  options.sync_timeout = request_.sync_timeout;
  // Where a hold of a process above us was found, this wait is followed by another one on the same connections.
  options.behind = [this, behind = options.behind](const std::function<void()>& work) {
    return (!end_the_wait() || session_.signals.any()) && behind(work);
  };
  return options;
}

bool HoldWait::end_the_wait() {
  if (ancestors_->found() || ancestors_->ends_the_wait() || queue_full()) return true;
  if (deadlock_ && deadlock_->ends_the_wait()) return true;
  return (once_ && once_->done()) || (script_ && script_->ended());
}

/// The first answer has put us at the end of the line, so our place says exactly how many wait. A line that was
/// lost later and has formed anew says nothing about that.
void HoldWait::count_waiters(const Waiting& waiting) {
  if (waiting.busy != nullptr && waiting.busy->position && !ahead_) ahead_ = *waiting.busy->position - 1;
}

/// A process above us has the key that could not be had, and we may join its hold.
bool HoldWait::joins_another(const Acquired& got) {
  const auto* gave_up = std::get_if<GaveUp>(&got);
  if (gave_up == nullptr || session_.signals.any() || (script_ && script_->ended())) return false;
  if (gave_up->why == GaveUp::Why::busy && !ancestors_->found()) {  // a single try, which has told nobody
    const std::string& member = gave_up->busy->member;
    ancestors_->look_at(member.empty() ? request_.names[gave_up->part] : LockName{member},
                        gave_up->busy->holder);
  }
  if (!ancestors_->found()) return false;
  above_.push_back(ancestors_->take());
  if (request_.once_per)
    throw Error{Error::usage,
                fmt::format("--once-per inside a process that holds {}: only the outermost hold "
                            "can keep the key",
                            quoted(above_.back().key))};
  return true;
}

/// The hold that we wanted to join is gone: RLOCK_STACK and records are only hints. The holds of other keys stay:
/// whoever has them waits until we end, so it can never release them to us.
bool HoldWait::leaves_one(const GaveUp& gave_up) {
  const bool absent = gave_up.refused && gave_up.refused->why == Refused::Why::absent;
  if (!absent || request_.inside) return false;
  if (request_.joins && forget(above_, request_.names[gave_up.part])) return true;
  return std::exchange(again_, false);  // --again: who does not have it yet takes it for the first time
}

bool HoldWait::unreachable(const GaveUp& gave_up) const {
  return gave_up.why == GaveUp::Why::unreachable && !session_.signals.any() &&
         failure_of(gave_up).kind == Error::unreachable;
}

std::string HoldWait::describe(const GaveUp& gave_up, std::string_view then) {
  return session_.describe(failure_of(gave_up), lines_.last_known(gave_up) + std::string{then});
}

NotHeld HoldWait::give_up(const GaveUp& gave_up) {
  NotHeld not_held;
  const bool interrupted = gave_up.why == GaveUp::Why::interrupted;
  if (interrupted) not_held.signal = session_.signals.ended();
  if (not_held.signal) {
    lines_.interrupted(*not_held.signal, gave_up);
    not_held.why = NotHeld::Why::signal;
    not_held.exit = 128 + *not_held.signal;
    return not_held;
  }
  const int busy = static_cast<int>(request_.wait.conflict_exit_code);
  if (interrupted && script_ && script_->ended()) {
    complain(fmt::format("process {} has ended, so rlock does not acquire {} for it", request_.script->pid,
                         request_.all_keys()));
    return {.why = NotHeld::Why::script_ended, .exit = busy};
  }
  if (once_ && gave_up.busy && once_->done_after_all()) {
    say_that_it_was_done(once_->text());
    return {.why = NotHeld::Why::done, .exit = exit_code::ok};
  }
  if (deadlock_ && deadlock_->ends_the_wait()) {
    complain(deadlock_->text());
    return {.why = NotHeld::Why::deadlock, .exit = busy};
  }
  if (queue_full()) {
    complain(fmt::format(
        "not waiting for {}: the lock is busy, and {} in its queue (--queue-limit {})", request_.all_keys(),
        *ahead_ == 1 ? "1 waiter is" : fmt::format("{} waiters are", *ahead_), *request_.queue_limit));
    return {.why = NotHeld::Why::queue_full, .exit = busy};
  }
  if (gave_up.refused && gave_up.refused->why == Refused::Why::superseded) {
    lines_.superseded(*gave_up.refused);
    return {.why = NotHeld::Why::superseded, .exit = busy};
  }
  if (ancestors_->ends_the_wait()) {
    complain(fmt::format("{}{}", ancestors_->text(), request_.way_to_join));
    return {.why = NotHeld::Why::deadlock, .exit = busy};
  }
  not_held.exit = say(gave_up);
  return not_held;
}

/// Says why there is no lock, and answers the exit status that says it to a script.
int HoldWait::say(const GaveUp& gave_up) {
  if (gave_up.why == GaveUp::Why::busy) {
    lines_.give_up(gave_up);
    return static_cast<int>(request_.wait.conflict_exit_code);
  }
  if (gave_up.refused && gave_up.refused->why == Refused::Why::absent && request_.inside) {
    tell(fmt::format("{} is not held by owner {}", quoted(request_.names[gave_up.part]),
                     in_quotes(request_.inside->str())));
    return static_cast<int>(request_.wait.conflict_exit_code);
  }
  if (gave_up.refused) {
    complain(gave_up.refused->text);
    return exit_code::wrong_type;
  }
  complain(describe(gave_up, {}));
  return exit_code::of(failure_of(gave_up).kind);
}

}  // namespace rlock
