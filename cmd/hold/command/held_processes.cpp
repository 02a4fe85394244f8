// turn() handles the facts of a turn in this order:
//
//   guardian      It gets the deadlines of the lock first: a renewal may have moved them, and rlock may be killed or
//                 stopped at any moment.
//   request       A request to end (rlock stop) sets deadlines, which the next steps read.
//   announcement  A loss or the end of --max-hold is printed before the first signal. After a loss or a request,
//                 the end of --max-hold is no news.
//   signals       Escalation decides which signal is due, by the earliest of all deadlines.
//
// others_must_end() delays the release. If the processes were stopped, all of them must be gone: they may still use
// the protected resource. If the lock is lost already, the wait protects nothing. Then rlock waits at most
// StopOptions::last_tries for a process that survives KILL, and only names a process that it does not stop.

#include "cmd/hold/command/held_processes.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "base/as_given.h"
#include "base/error.h"
#include "base/log.h"

namespace rlock {
namespace {

/// If a process that rlock does not stop ends this soon, rlock prints no message about it. An example is the guardian
/// of a nested run, which ends a moment after its run.
constexpr Milliseconds kEndsByItself{500};

/// A search for processes that takes longer than a turn goes on after this pause.
constexpr Milliseconds kSearchAgain{100};

/// If a search takes longer, rlock prints a message.
constexpr Milliseconds kLongSearch{2000};

/// "process 4711", "processes 4711, 4712".
std::string listed(const std::vector<pid_t>& pids) {
  return fmt::format("{} {}", pids.size() == 1 ? "process" : "processes", fmt::join(pids, ", "));
}

}  // namespace

HeldProcesses::HeldProcesses(Loop& loop, Family& family, HeldLock lock, StopOptions options)
    : loop_(loop),
      family_(family),
      lock_(std::move(lock)),
      options_(std::move(options)),
      escalation_(options_.rules.signal) {}

int HeldProcesses::guard(const Signals& signals, Guarded guarded) {
  if (!options_.rules.stop_on_loss) return 0;
  guarded.signal = options_.rules.signal;
  guardian_.emplace(loop_, signals, std::move(guarded), of_lock());
  return guardian_->start_errno();
}

void HeldProcesses::guard_group(pid_t group) noexcept {
  if (guardian_) guardian_->set_group(group);
}

void HeldProcesses::guard_release(std::optional<int> exit) noexcept {
  if (said_lost_) return dismiss_guardian();
  if (guardian_) guardian_->set_ended(exit);
}

void HeldProcesses::dismiss_guardian() noexcept {
  if (guardian_) guardian_->dismiss();
}

Deadlines HeldProcesses::of_lock() const {
  return options_.rules.stop_on_loss ? lock_.deadlines() : Deadlines{};
}

Deadlines HeldProcesses::deadlines() const {
  const Deadlines at_most{options_.max_hold, plus(options_.max_hold, options_.rules.kill_after)};
  return earliest(of_lock(), earliest(at_most, end_at_));
}

void HeldProcesses::turn(TimePoint now, const std::function<bool()>& ended) {
  if (guardian_) guardian_->set_deadlines(of_lock());
  read_requests(now);
  announce(now, ended);
  escalate(now);
}

/// If there is a request to end, stops the processes as --max-hold does.
void HeldProcesses::read_requests(TimePoint now) {
  if (asked_by_ || escalation_.begun()) return;
  asked_by_ = lock_.asked_to_stop();
  if (asked_by_) end(now, options_.rules.kill_after, "asked to end by " + *asked_by_);
}

void HeldProcesses::end(TimePoint now, Milliseconds grace, const std::string& why) {
  end_why_ = why;
  end_at_ = {now, plus(now, grace)};
  warn(fmt::format("{}; {}", why, how_stopped(kill_when(plus(now, grace)), now)));
}

void HeldProcesses::announce(TimePoint now, const std::function<bool()>& ended) {
  if (!said_lost_) lock_.read_messages();
  if (const auto why = said_lost_ ? std::nullopt : lock_.lost()) {
    said_lost_ = true;
    if (options_.report_lost) options_.report_lost(*why);
    // They may have ended before the loss: then there is nothing to stop.
    const std::string then = !options_.rules.stop_on_loss ? options_.whom + " runs on (--on-lost warn)"
                             : ended()                    ? options_.whom + " has ended"
                                                          : how_stopped(deadlines().kill, now);
    warn(fmt::format("lost {}: {}; {}", lock_.name(), *why, then));
  }
  if (escalation_.begun() || said_lost_ || end_at_.stop != kNever || now < options_.max_hold)
    return;  // for example, --max-hold is no news after a loss
  at_max_hold_ = true;
  warn(fmt::format("{} is over for {}: {}", as_given("max-hold", "--max-hold"), lock_.name(),
                   how_stopped(kill_when(plus(options_.max_hold, options_.rules.kill_after)), now)));
}

/// While renewals go on, the deadline of the lock moves on, so only the planned time counts.
TimePoint HeldProcesses::kill_when(TimePoint planned) const {
  return lock_.renewed ? planned : deadlines().kill;
}

std::string HeldProcesses::how_stopped(TimePoint kill, TimePoint now) const {
  if (options_.rules.signal == SIGKILL) return fmt::format("stopping {}: SIGKILL now", options_.whom);
  return fmt::format("stopping {}: {} now, SIGKILL in {}", options_.whom, signal_name(options_.rules.signal),
                     describe(remaining(kill, now)));
}

void HeldProcesses::say_refused(const std::vector<pid_t>& pids) {
  if (pids.empty() || std::exchange(said_refused_, true)) return;
  const std::string what = fmt::format("may not signal {} (another user's)", listed(pids));
  warn(lock_.held ? fmt::format("{}; {} is renewed as long as it is ours", what, lock_.name()) : what);
}

void HeldProcesses::say_out_of_reach(const std::vector<pid_t>& pids, TimePoint now) {
  const TimePoint due = earliest(std::exchange(say_out_of_reach_at_, kNever), plus(now, kEndsByItself));
  if (pids.empty() || said_out_of_reach_) return;
  said_out_of_reach_ = now >= due;
  if (!said_out_of_reach_) {
    say_out_of_reach_at_ = due;
    return;
  }
  const bool one = pids.size() == 1;
  const std::string then = said_lost_
                               ? fmt::format("{} on without {}", one ? "it runs" : "they run", lock_.name())
                               : lock_.name() + " stays held until no such process runs";
  warn(fmt::format("rlock does not stop {} (in another session, or without {} environment); {}", listed(pids),
                   one ? "its" : "their", then));
}

void HeldProcesses::escalate(TimePoint now) {
  const bool begun = escalation_.begun();
  // Before the first signal: if it kills a parent, the children of that parent cannot be found any more.
  if (!begun && now >= wake_at()) family_.look();
  while (const auto signal = escalation_.next(now, deadlines())) {
    if (escalation_.killing()) first_kill_ = earliest(first_kill_, now);
    say_refused(family_.signal(*signal, now, escalation_.killing() ? kNever : deadlines().kill));
    if (guardian_) guardian_->set_stop_sent();  // else the guardian would send the stop signal once more
  }
  if (!begun && escalation_.begun() && options_.report_stopping)
    options_.report_stopping(said_lost_          ? "the lock is lost"
                             : !end_why_.empty() ? end_why_
                             : at_max_hold_      ? as_given("max-hold", "--max-hold") + " is over"
                                                 : "its first process has ended");
}

bool HeldProcesses::others_must_end(TimePoint now, const std::function<std::vector<pid_t>()>& unstopped) {
  const bool one_lives = next_exit_ && !next_exit_->over();
  const bool survives_kill = said_lost_ && now >= plus(first_kill_, options_.last_tries);
  if (one_lives && now < say_out_of_reach_at_) return !survives_kill;
  if (escalation_.hurrying()) return true;  // the next turn sends KILL, also to processes that /proc hides
  if (search_again_at_ != kNever && now < search_again_at_) return true;
  next_exit_.reset();
  const std::vector<pid_t> others = look_for_others(now, unstopped);
  if (others.empty()) return go_on_searching(now);
  searching_since_ = search_again_at_ = kNever;
  next_exit_.emplace(loop_, others.front());  // one is enough: after its end the next search finds the rest
  return !survives_kill;
}

/// Searches again soon for processes that are silent, which mostly wait for a processor. False: the search is over.
bool HeldProcesses::go_on_searching(TimePoint now) {
  search_again_at_ = kNever;
  if (!escalation_.begun() || family_.unanswered().empty()) return false;
  if (searching_since_ == kNever) searching_since_ = now;
  const bool protects = lock_.held && !said_lost_;
  if (!protects && now >= plus(searching_since_, options_.last_tries)) return false;
  if (protects && now >= plus(searching_since_, kLongSearch) && !std::exchange(said_long_search_, true))
    warn(fmt::format("/proc has not shown the environment of {} yet; {} stays held until it has",
                     listed({family_.unanswered().front()}), lock_.name()));
  search_again_at_ = plus(now, kSearchAgain);
  return true;
}

/// The processes that the release waits for now.
std::vector<pid_t> HeldProcesses::look_for_others(TimePoint now,
                                                  const std::function<std::vector<pid_t>()>& unstopped) {
  const int unread = unread_files();
  std::vector<pid_t> others = escalation_.begun() ? family_.all(now) : unstopped();
  if (!others.empty()) say_out_of_reach_at_ = kNever;
  if (others.empty() && escalation_.begun() && lock_.held) {
    others = family_.out_of_reach();
    say_out_of_reach(others, now);
    if (said_lost_ && said_out_of_reach_) return {};  // they are named, and the lock is lost already
  }
  // The guardian has descriptors of its own. It kills the others and releases the lock when we fail.
  if (others.empty() && unread_files() != unread)
    throw Error{Error::system,
                fmt::format("cannot look for processes of {}: no file descriptor is free (ulimit -n)",
                            options_.whom)};
  return others;
}

}  // namespace rlock
