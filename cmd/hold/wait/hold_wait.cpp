// run() takes these steps:
//
//   latch      A pool of permits and a latch look alike, so a latch is refused before anything is taken from it.
//   arrival    With --newest, we draw a ticket at each key before we ask for any: the acquire carries the ticket.
//   acquire()  One wait after the other, each with a fresh owner unless the user named it. Most need only one.
//
// Another wait follows in three cases. If a process above us turned out to hold the key, we join its hold. If the
// server says that a hold of RLOCK_STACK is gone, we do not join it. If the server says that a named owner does not
// hold a key, this owner acquires it for the first time. Each happens at most once for a hold or a key, so the waits
// end.
//
// During a wait, the watches hear the answers, and wait_is_over() asks them after every turn of the loop. They send
// nothing to the server before the lock is busy. Then report_not_held() says why there is no lock. Several reasons may
// be true: the order in why_not() decides.

#include "cmd/hold/wait/hold_wait.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/key_text.h"
#include "base/log.h"
#include "base/owner_id.h"
#include "base/text.h"
#include "cmd/ask/latch_guard.h"
#include "cmd/cli/exit_code.h"
#include "cmd/view/holder_text.h"
#include "sync/kinds/arrival.h"

namespace rlock {
namespace {

/// Prints the text only on a terminal or with -v: otherwise cron would mail it from every host, every time.
void say_that_it_was_done(const std::string& text) {
  if (::isatty(STDERR_FILENO) != 0) {
    info(text);
  } else {
    debug(text);
  }
}

}  // namespace

HoldWait::HoldWait(Session& session, const HoldRequest& request, Metadata facts, WaitObserver* observer)
    : session_(session),
      request_(request),
      lines_(session, {.started = request.started,
                       .wait = request.wait,
                       .names = request.names,
                       .state = std::string{request.type->busy_text},
                       .is_pool = request.type->is_pool(),
                       .observer = observer}),
      claimant_{.owner = fresh_owner(), .facts = std::move(facts), .above = holds_above_us()},
      queue_(request.queue_limit) {
  if (request.joining.inside)
    for (const LockName& name : request.names)
      claimant_.above.push_back({std::string{request.type->name}, *request.joining.inside, name});
  const Milliseconds answer = session.deployment.timeouts.command;
  const bool is_pool = request.type->is_pool();
  ancestors_.emplace(session.redis, AncestorWatch::Options{.type = request.type->name,
                                                           .joins = request.joining.allowed,
                                                           .asks_always = request.type->polls || is_pool,
                                                           .permits = request.type_options.count,
                                                           .answer_within = answer});
  // Only a nested run can be part of a deadlock. With several servers, waiters do not record what they wait
  // for, so no deadlock is detected.
  if (session.redis.nodes() == 1 && !claimant_.above.empty()) {
    DeadlockWatch::Options options{.gives_up = request.give_up_on_deadlock, .answer_within = answer};
    for (const InheritedHold& hold : claimant_.above) options.holds.push_back({hold.key, hold.owner});
    deadlock_.emplace(session.redis, std::move(options));
  }
  if (request.once_per) once_.emplace(session.redis, request.names.front(), answer);
  if (request.script) script_.emplace(session.loop, *request.script);
}

std::variant<HeldKeys, GaveUp> HoldWait::run() {
  if (request_.type->is_pool())
    if (const auto could_not_ask = refuse_latch(session_, request_.names.front(), PoolKind::permits,
                                                request_.started, request_.wait))
      return GaveUp{.why = GaveUp::Why::unreachable, .failure = could_not_ask};
  if (request_.newest)
    if (auto gave_up = arrive()) return *std::move(gave_up);
  for (;; claimant_.owner = fresh_owner()) {
    AcquireResult got = acquire(session_.redis, renew_request(NewIdentity::requests), options());
    if (auto* const gave_up = std::get_if<GaveUp>(&got)) {
      seen_busy_ = seen_busy_ || gave_up->seen_busy;
      if (join_another(*gave_up) || leave_one(*gave_up)) continue;
      return std::move(*gave_up);
    }
    lines_.acquired();
    ancestors_.reset();
    deadlock_.reset();
    return std::variant<HeldKeys, GaveUp>{std::in_place_type<HeldKeys>, *std::move(keys_),
                                          std::get<Acquired>(std::move(got)), session_.now()};
  }
}

/// Arrives at each key with the same ticket. So if two waiters want the same keys, one of them is the newer at each
/// key. Keys that we join are left out.
std::optional<GaveUp> HoldWait::arrive() {
  AcquireOptions patient = options();
  patient.renew_identity = nullptr;
  const std::string who = holder_text({.owner = claimant_.owner, .facts = claimant_.facts}, std::nullopt);
  for (const LockName& name : request_.names) {
    if (request_.joining.allowed && find_hold(claimant_.above, name) != nullptr) continue;
    const Claim claim{.name = name,
                      .owner = request_.owner.value_or(Owner{""}),
                      .pub_sub = session_.deployment.pub_sub(),
                      .ticket = claimant_.ticket};
    AcquireResult got = acquire(session_.redis, Arrival{claim, *request_.type->kind, who}, patient);
    if (auto* const gave_up = std::get_if<GaveUp>(&got)) return std::move(*gave_up);
    claimant_.ticket = std::get<Acquired>(got).held.front().ticket;
  }
  return std::nullopt;
}

/// The owner of the next wait: the one that the user named, else a new one. A new one names the process that will hold
/// the key.
Owner HoldWait::fresh_owner() const {
  if (request_.owner) return *request_.owner;
  return request_.script ? new_owner(request_.script->pid) : new_owner();
}

AcquireRequest HoldWait::renew_request(NewIdentity renewed) {
  if (renewed == NewIdentity::owner) claimant_.owner = fresh_owner();
  keys_.emplace(request_, claimant_);
  return keys_->acquire_request();
}

AcquireOptions HoldWait::options() {
  AcquireOptions options = lines_.options();
  options.renew_identity = [this](NewIdentity renewed) { return renew_request(renewed); };
  options.report = [this](const Waiting& waiting) {
    lines_.note_waiting(waiting);
    ancestors_->note_waiting(waiting);
    if (deadlock_) deadlock_->note_waiting(waiting);
    if (once_) once_->note_waiting(waiting);
    queue_.note_waiting(waiting);
  };
  options.patience.interrupted = [this] { return session_.signals.any() || wait_is_over(); };
  options.node_timeout = node_timeout(request_.lease, session_.deployment.timeouts.command);
  options.good_for = request_.good_for;
  options.sync_replicas = request_.sync_replicas;
  // If a watch has ended the wait, the undo must not move to another process. The next wait, or a question of the
  // watch, may follow on the same connections.
  options.behind = [this, behind = options.behind](const std::function<void()>& work) {
    return !wait_is_over() && behind(work);
  };
  return options;
}

bool HoldWait::wait_is_over() {
  return ancestors_->found() || ancestors_->ends_the_wait() || (deadlock_ && deadlock_->ends_the_wait()) ||
         (once_ && once_->done()) || queue_.full() || (script_ && script_->ended());
}

/// Does a process above us hold the key, and may we join its hold? Then the next wait joins it.
bool HoldWait::join_another(const GaveUp& gave_up) {
  if (session_.signals.any() || (script_ && script_->ended())) return false;
  // After a single try (-n) the watch has heard of no busy answer yet.
  if (gave_up.why == GaveUp::Why::busy && !ancestors_->found()) ancestors_->look_at(*gave_up.busy);
  if (!ancestors_->found()) return false;
  claimant_.above.push_back(ancestors_->take());
  if (request_.once_per)
    throw Error{Error::usage,
                fmt::format("--once-per inside a process that holds {}: only the outermost hold "
                            "can keep the key",
                            quoted(claimant_.above.back().key))};
  return true;
}

/// Is the hold that we wanted to join gone? (RLOCK_STACK and records are only hints.) Then the next wait does
/// without it. Joined holds of other keys stay: their holder waits for our end, so it does not release them.
bool HoldWait::leave_one(const GaveUp& gave_up) {
  const bool absent = gave_up.refused && gave_up.refused->why == Refused::Why::absent;
  if (!absent || request_.joining.inside) return false;
  if (request_.joining.allowed && forget(claimant_.above, gave_up.refused->key)) {
    // A hold of fewer permits than we want is no hold that we could join, and its record would be found again.
    if (request_.type->is_pool()) ancestors_->cannot_join(gave_up.refused->key);
    return true;
  }
  // --again: an owner that does not hold the key acquires it for the first time. Without --again, a late copy of our
  // acquire has come, and another process has acquired as the same owner meanwhile.
  return request_.owner && claimant_.not_yet_held.insert(gave_up.refused->key).second;
}

bool HoldWait::unreachable(const GaveUp& gave_up) const {
  return gave_up.why == GaveUp::Why::unreachable && !session_.signals.any() &&
         gave_up.failure.value_or(no_answer()).kind == Error::unreachable;
}

NotHeld::Why HoldWait::why_not(const GaveUp& gave_up) {
  using Why = NotHeld::Why;
  const bool interrupted = gave_up.why == GaveUp::Why::interrupted;
  const auto refused = [&](Refused::Why why) { return gave_up.refused && gave_up.refused->why == why; };
  if (interrupted && session_.signals.ended()) return Why::signal;
  if (interrupted && script_ && script_->ended()) return Why::script_ended;
  if (once_ && gave_up.busy) {
    once_->ask_and_wait();
    if (once_->done()) return Why::done;
  }
  if (deadlock_ && deadlock_->ends_the_wait()) return Why::deadlock;
  if (queue_.full()) return Why::queue_full;
  if (refused(Refused::Why::superseded)) return Why::superseded;
  if (ancestors_->ends_the_wait()) return Why::ancestor;
  if (refused(Refused::Why::absent) && request_.joining.inside) return Why::absent;
  return Why::other;
}

NotHeld HoldWait::report_not_held(const GaveUp& gave_up, std::string_view then) {
  const NotHeld::Why why = why_not(gave_up);
  lines_.over();  // also for the reasons that LastWord does not say: the caller may turn the loop
  switch (why) {
    case NotHeld::Why::signal: {
      const int signal = *session_.signals.ended();
      LastWord{lines_, gave_up}.interrupted(signal);
      return {.why = why, .exit = 128 + signal, .signal = signal};
    }
    case NotHeld::Why::script_ended:
      warn(fmt::format("process {} has ended, so rlock does not acquire {} for it", request_.script->pid,
                       request_.all_keys()));
      break;
    case NotHeld::Why::done: say_that_it_was_done(once_->text()); return {.why = why, .exit = exit_code::ok};
    case NotHeld::Why::deadlock: warn(deadlock_->text()); break;
    case NotHeld::Why::queue_full:
      info(fmt::format("not waiting for {}: the lock is busy, and {}", request_.all_keys(), queue_.text()));
      break;
    case NotHeld::Why::superseded: LastWord{lines_, gave_up}.superseded(); break;
    case NotHeld::Why::ancestor: warn(fmt::format("{}{}", ancestors_->reason(), request_.joining.way)); break;
    case NotHeld::Why::absent:
      info(fmt::format("{} is not held by owner {}", quoted(gave_up.refused->key),
                       in_quotes(request_.joining.inside->str())));
      break;
    case NotHeld::Why::other: return {.exit = LastWord{lines_, gave_up}.not_held(then)};
  }
  return {.why = why, .exit = request_.wait.conflict_exit_code};
}

}  // namespace rlock
