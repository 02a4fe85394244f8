// The command's life. run() starts a guardian and then the child, turns the loop until the child has ended
// and nobody else matters, and finish() makes a CommandOutcome of what happened.
//
// turn() looks at facts, in this order: what the terminal and signals want (JobControl); until when the lock
// is ours, which the guardian gets to know; whether something has to be announced; which signal is due
// (Escalation, for the lock's deadlines and --max-hold alike); whether the command may go on after a stop. A
// stop comes first since it may have lasted for days: everything after it is judged by a new look at the
// clock.
//
// "The others" are processes that the command has started and that outlive it. When the command was stopped,
// all of them must be gone before the lock is released, because they may still do what the lock protects.
// When it ended by itself, they matter only with --until group. When the lock is lost already, waiting
// protects nothing, and a process that KILL does not end is not waited for.

#include "cmd/run/held_command.h"

#include <fmt/format.h>

#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"

namespace rlock {
namespace {

/// How long we wait for processes that got KILL because the lock is lost. It is not ours any more: nothing is
/// gained by waiting for a process that KILL does not end.
constexpr Milliseconds kKillEnds{1000};

/// How long the other processes of a group may take to end after the signal that has ended the first one, and
/// how often we look.
constexpr Milliseconds kRestEnds{200};
constexpr Milliseconds kBetweenLooks{5};

std::string listed(const std::vector<pid_t>& pids) {
  std::vector<std::string> words;
  words.reserve(pids.size());
  for (const pid_t pid : pids) words.push_back(std::to_string(pid));
  return joined(words, ", ");
}

int exit_status_of_start(int error) {
  switch (error) {
    case ENOENT: return exit_code::not_found;
    case EAGAIN:  // the system has no process, memory or descriptor left: the command is not to blame
    case ENOMEM:
    case EMFILE:
    case ENFILE: return exit_code::system;
    default: return exit_code::not_runnable;
  }
}

}  // namespace

int exit_status(const CommandOutcome& ended, bool lost) {
  if (ended.interrupted) return 128 + *ended.interrupted;
  if (ended.not_started != 0) return exit_status_of_start(ended.not_started);
  if (ended.too_late) return exit_code::unreachable;
  if (lost) return exit_code::lost;
  return ended.max_hold || ended.stopped_by ? exit_code::max_hold : ended.exit_code;
}

HeldCommand::HeldCommand(Loop& loop, Signals& signals, HeldLock lock, HoldOptions options)
    : loop_(loop),
      signals_(signals),
      lock_(std::move(lock)),
      options_(std::move(options)),
      family_(0, ::getsid(0), options_.marks),
      escalation_(options_.signal),
      terminal_(signals.reaches_command(SIGTTIN)),
      job_(signals, terminal_, [this] { say_what_stopping_means(); }) {}

CommandOutcome HeldCommand::run() {
  // Signals that came during the wait were meant for the wait: by USR1 somebody asked what we wait for, and
  // the command would die of it.
  signals_.drain();
  static_cast<void>(signals_.take());
  signals_.take_stops();
  // The last look before the command exists: somebody may have asked us to end while we acquired, and then
  // the command must not start.
  signals_.drain();
  if (signals_.any()) return {.interrupted = signals_.ended()};
  if (loop_.now() >= of_lock().stop) return {.too_late = true};

  // Before the command: from its first moment on somebody can stop it.
  if (options_.stop_on_loss) {
    guardian_.emplace(loop_,
                      Guarded{.signal = options_.signal,
                              .session = ::getsid(0),
                              .marks = options_.marks,
                              .when_nobody_lives = options_.release_by_guardian},
                      of_lock());
    if (guardian_->start_errno() != 0) return {.not_started = guardian_->start_errno()};
  }
  // Asked here, done in the child: it must have the terminal before it runs, or its first read would stop it.
  const bool hand_over = terminal_.to_be_handed_over();
  Child child{loop_, options_.command, [&](pid_t self) {
                if (guardian_) guardian_->tell_group(self);
                if (hand_over) terminal_.lend(self);
                signals_.restore();
              }};
  if (child.start_errno() != 0) {
    terminal_.take_back();
    if (guardian_) guardian_->dismiss();
    return {.not_started = child.start_errno()};
  }
  family_.set_group(child.pid());
  while (!child.ended() || others_matter(loop_.now())) turn(child);
  return finish(child);
}

void HeldCommand::turn(Child& child) {
  loop_.turn(earliest(escalation_.wake_at(deadlines()), job_.wake_at()));
  job_.turn(child, loop_.now());

  const TimePoint now = loop_.now();  // we may have been stopped meanwhile
  if (guardian_) guardian_->tell(of_lock());
  hear_requests(now);
  announce(child, now);
  escalate(now);
  // After escalate(): the lock may have been lost while we were stopped, and then CONT must not come first.
  if (job_.wants_to_resume() && !escalation_.killing()) job_.resume(child);
  if (job_.refused()) say_refused({child.pid()});

  if (!child.ended() || first_ended_ != kNever) return;
  first_ended_ = now;
  // The others got the stop signal together with the first process, and had as much time as it had.
  if (escalation_.begun()) escalation_.hurry();
}

/// Somebody asks us to end: the command is stopped as at --max-hold.
void HeldCommand::hear_requests(TimePoint now) {
  if (asked_by_ || escalation_.begun()) return;
  asked_by_ = lock_.asked_to_stop();
  if (!asked_by_) return;
  asked_at_ = now;
  const TimePoint kill = lock_.renewed ? plus(now, options_.kill_after) : deadlines().kill;
  complain(fmt::format("asked to end by {}; {}", *asked_by_, how_it_is_stopped(kill, now)));
}

Deadlines HeldCommand::of_lock() const { return options_.stop_on_loss ? lock_.deadlines() : Deadlines{}; }

Deadlines HeldCommand::deadlines() const {
  const TimePoint end = earliest(options_.max_hold, asked_at_);
  return earliest(of_lock(), {end, plus(end, options_.kill_after)});
}

void HeldCommand::announce(Child& child, TimePoint now) {
  if (const auto why = said_lost_ ? std::nullopt : lock_.lost()) {
    said_lost_ = true;
    if (options_.tell_lost) options_.tell_lost(*why);
    child.look();  // it may have ended before the loss: then nothing is stopped
    complain(fmt::format("lost {}: {}; {}", lock_.name, *why, what_follows(child, now)));
  }
  if (escalation_.begun() || said_lost_ || asked_by_ || now < options_.max_hold)
    return;  // a loss is the greater news
  at_max_hold_ = true;
  // While renewals go on, the deadline of the lock moves, and --kill-after alone counts.
  const TimePoint kill = lock_.renewed ? plus(options_.max_hold, options_.kill_after) : deadlines().kill;
  complain(fmt::format("--max-hold is over for {}: {}", lock_.name, how_it_is_stopped(kill, now)));
}

std::string HeldCommand::what_follows(const Child& child, TimePoint now) const {
  if (!options_.stop_on_loss) return "the command runs on (--on-lost warn)";
  return child.ended() ? "the command has ended" : how_it_is_stopped(deadlines().kill, now);
}

std::string HeldCommand::how_it_is_stopped(TimePoint kill, TimePoint now) const {
  if (options_.signal == SIGKILL) return "stopping the command: SIGKILL now";
  return fmt::format("stopping the command: {} now, SIGKILL in {}", signal_name(options_.signal),
                     describe(remaining(kill, now)));
}

void HeldCommand::say_what_stopping_means() const {
  if (!lock_.held) return;
  if (!options_.stop_on_loss)
    return complain(fmt::format("stopped: while the command is stopped, rlock cannot renew {}", lock_.name));
  complain(fmt::format(
      "stopped: while the command is stopped, rlock cannot renew {}; unless it goes on, the command is killed in {}",
      lock_.name, describe(remaining(of_lock().stop, loop_.now()))));
}

void HeldCommand::say_refused(const std::vector<pid_t>& pids) {
  if (pids.empty() || std::exchange(said_refused_, true)) return;
  const std::string what = fmt::format("may not signal {} (another user's)", listed(pids));
  complain(lock_.held ? fmt::format("{}; {} is renewed as long as it is ours", what, lock_.name) : what);
}

/// Processes that have left the group, for a group of their own, go on running then: a person has to know.
void HeldCommand::say_hidden() {
  if (std::exchange(said_hidden_, true) || Family::proc_shows_us()) return;
  complain("/proc does not show the command's processes: only its process group is stopped");
}

void HeldCommand::escalate(TimePoint now) {
  const bool begun = escalation_.begun();
  while (const auto signal = escalation_.next(now, deadlines())) {
    say_hidden();
    say_refused(family_.signal(*signal, escalation_.killing() ? kNever : deadlines().kill));
    if (guardian_) guardian_->tell_stop_sent();  // else it would send the stop signal once more
  }
  if (!begun && escalation_.begun() && options_.tell_stopping)
    options_.tell_stopping(said_lost_     ? "the lock is lost"
                           : asked_by_    ? "asked to end by " + *asked_by_
                           : at_max_hold_ ? "--max-hold is over"
                                          : "its first process has ended");
}

bool HeldCommand::others_matter(TimePoint now) {
  if (next_exit_ && !next_exit_->over()) {
    // For processes that got KILL we wait as long as the lock is ours, and only a moment when it is lost.
    return !escalation_.begun() || !said_lost_ || now < plus(first_ended_, kKillEnds);
  }
  if (escalation_.hurrying()) return true;  // the next turn sends KILL, also to processes that /proc hides
  if (escalation_.begun()) return wait_for(family_.all());
  return options_.until_group && wait_for(family_.in_group());
}

bool HeldCommand::wait_for(const std::vector<pid_t>& others) {
  next_exit_.reset();
  if (others.empty()) return false;
  next_exit_.emplace(loop_, others.front());  // one is enough: after its end all are looked for again
  return true;
}

CommandOutcome HeldCommand::finish(Child& child) {
  next_exit_.reset();
  // Before reap(): afterwards the number of the group may be somebody else's.
  if (guardian_) guardian_->dismiss();
  const int status = child.reap();
  CommandOutcome ended{
      .exit_code = exit_code_of(status), .signal = signal_of(status), .max_hold = at_max_hold_};
  if (escalation_.begun() && !said_lost_) ended.stopped_by = asked_by_;
  const bool had_terminal = job_.end(ended.signal || escalation_.begun());
  // A command that catches ^C and exits with 130 says the same as one that died of it. Where a process sent
  // the signal through us, no key was pressed.
  for (const int key : {SIGINT, SIGQUIT}) {
    const bool pressed = ended.exit_code == 128 + key && job_.passed_on() != key;
    if (had_terminal && pressed && !escalation_.begun()) ended.pressed = key;
  }
  if (escalation_.begun()) wait_for_hidden(child);
  if (ended.signal || job_.passed_on()) wait_for_rest();
  if (!family_.group_lives()) return ended;
  ended.left = family_.in_group();
  ended.left_hidden = ended.left.empty();
  return ended;
}

/// Waits for processes of the group that /proc does not show as for the others: as long as the lock is ours,
/// and only a moment when it is lost. All of them got KILL when the first process had ended.
void HeldCommand::wait_for_hidden(Child& child) {
  while (family_.group_lives()) {
    const TimePoint now = loop_.now();
    announce(child, now);
    if (said_lost_ && now >= plus(first_ended_, kKillEnds)) return;
    loop_.turn(plus(now, now < plus(first_ended_, kRestEnds) ? kBetweenLooks : kRestEnds));
  }
}

/// Gives the other processes of the group the time to end by the signal that ended the first one.
void HeldCommand::wait_for_rest() {
  const TimePoint until = plus(loop_.now(), kRestEnds);
  while (loop_.now() < until && family_.group_lives()) loop_.turn(plus(loop_.now(), kBetweenLooks));
}

}  // namespace rlock
