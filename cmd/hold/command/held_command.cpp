// The life of the command. run() starts a guardian and then the child. It turns the loop until the child has
// ended and others_must_end() is false. Then finish() makes the CommandOutcome. From then on the guardian signals
// nothing: it stays only to release the lock if rlock is killed before its own release is confirmed.
//
// turn() first handles the terminal and the signals (JobControl), then the lock (HeldProcesses), and last a
// stopped command that may go on. JobControl comes first because it may stop rlock itself, even for days. The
// steps after it read the clock again.
//
// "The others" are processes that the command has started and that outlive it. They matter if the command was
// stopped, or with --until group.

#include "cmd/hold/command/held_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/log.h"
#include "cmd/cli/exit_code.h"
#include "process/processes.h"

namespace rlock {
namespace {

using How = CommandOutcome::How;

/// If a signal has ended the first process of a group, the others may take kRestEnds to end. The pause between two
/// looks at them is kBetweenLooks.
constexpr Milliseconds kRestEnds{200};
constexpr Milliseconds kBetweenLooks{5};

int exit_status_of_start(int error) {
  switch (error) {
    case ENOENT: return exit_code::not_found;
    case EAGAIN:  // the system has no process, memory or descriptor left: that is not the command's fault
    case ENOMEM:
    case EMFILE:
    case ENFILE: return exit_code::system;
    default: return exit_code::not_runnable;
  }
}

}  // namespace

int exit_status(const CommandOutcome& ended, Lost lost) {
  switch (ended.how) {
    case How::interrupted: return 128 + ended.signal;
    case How::not_started: return exit_status_of_start(ended.error);
    case How::too_late: return exit_code::unreachable;
    case How::exited:
    case How::killed: break;
  }
  if (lost == Lost::yes) return exit_code::lost;
  return ended.max_hold || ended.stopped_by ? exit_code::max_hold : ended.exit_code;
}

HeldCommand::HeldCommand(Loop& loop, Signals& signals, HeldLock lock, CommandOptions options)
    : loop_(loop),
      signals_(signals),
      options_(std::move(options)),
      family_(0, ::getsid(0), options_.marks),
      processes_(loop, family_, std::move(lock), static_cast<const StopOptions&>(options_)),
      terminal_(signals.reaches_command(SIGTTIN)),
      job_(signals, terminal_, [this] { say_what_stopping_means(); }) {}

CommandOutcome HeldCommand::run() {
  // Drops the signals that came during the wait. A USR1 was a request for a wait line; the command would die
  // of it.
  signals_.drain();
  static_cast<void>(signals_.take());
  signals_.take_stops();
  // The last look before the command exists: if a signal asked rlock to end during the acquire, the command
  // must not start.
  if (const auto signal = signals_.ended()) return {.how = How::interrupted, .signal = *signal};
  if (loop_.now() >= processes_.of_lock().stop) return {.how = How::too_late};

  // The guardian starts first: as soon as the command runs, rlock may be killed or stopped.
  const int no_guardian = processes_.guard(signals_, {.session = family_.session(),
                                                      .marks = options_.marks,
                                                      .when_nobody_lives = options_.release_by_guardian});
  if (no_guardian != 0) return {.how = How::not_started, .error = no_guardian};
  // rlock decides whether the command gets the terminal, and the child hands it over. The command must have the
  // terminal before it runs, or its first read would stop it.
  const bool hand_over = terminal_.to_be_handed_over();
  Child child{loop_, signals_, options_.command, [&](pid_t self) {
                processes_.guard_group(self);
                if (hand_over) terminal_.lend(self);
              }};
  if (child.start_errno() != 0) {
    terminal_.take_back();
    processes_.guard_release(std::nullopt);
    return {.how = How::not_started, .error = child.start_errno()};
  }
  family_.set_group(child.pid());
  while (!child.ended() || others_must_end(loop_.now())) turn(child);
  return finish(child);
}

void HeldCommand::turn(Child& child) {
  loop_.turn(earliest(processes_.wake_at(), job_.wake_at()));
  job_.turn(child, loop_.now());

  const TimePoint now = loop_.now();  // rlock may have been stopped during the turn
  processes_.turn(now, [&] { return child.look(), child.ended(); });
  if (processes_.stopping()) say_hidden();
  // This comes last: if the lock was lost while rlock was stopped, the command must get the stop signal before it
  // goes on.
  if (job_.wants_to_resume() && !processes_.killing()) job_.resume(child);
  if (job_.refused()) processes_.say_refused({child.pid()});

  if (!child.ended() || first_ended_ != kNever) return;
  first_ended_ = now;
  // The others got the stop signal together with the first process, and have had the same time.
  if (processes_.stopping()) processes_.hurry();
}

void HeldCommand::say_what_stopping_means() const {
  const HeldLock& lock = processes_.lock();
  if (!lock.held) return;
  if (!options_.rules.stop_on_loss)
    return warn(fmt::format("stopped: while the command is stopped, rlock cannot renew {}", lock.name()));
  warn(fmt::format(
      "stopped: while the command is stopped, rlock cannot renew {}; unless it goes on, the command is killed in {}",
      lock.name(), describe(remaining(processes_.of_lock().stop, loop_.now()))));
}

/// Tells the user once if /proc does not show our processes: then those that left the group of the command go
/// on running.
void HeldCommand::say_hidden() {
  const int unread = unread_files();
  if (std::exchange(said_hidden_, true) || proc_shows_us() || unread_files() != unread) return;
  warn("/proc does not show the command's processes: only its process group is stopped");
}

bool HeldCommand::others_must_end(TimePoint now) {
  return processes_.others_must_end(
      now, [this] { return options_.until_group ? family_.in_group() : std::vector<pid_t>{}; });
}

CommandOutcome HeldCommand::finish(Child& child) {
  processes_.stop_waiting();
  // A command that rlock has stopped has not done its work, whatever its exit status.
  std::optional<int> done_exit;
  if (!processes_.asked_by()) done_exit = child.exit_code();
  if (processes_.at_max_hold() && done_exit == 0) done_exit = exit_code::max_hold;
  // Before reap(): after it, the id of the group may belong to other processes.
  processes_.guard_release(done_exit);
  const int status = child.reap();
  const std::optional<int> signal = signal_of(status);
  CommandOutcome ended{.how = signal ? How::killed : How::exited,
                       .exit_code = exit_code_of(status),
                       .signal = signal.value_or(0),
                       .done_exit = done_exit,
                       .max_hold = processes_.at_max_hold()};
  const bool stopped = processes_.stopping();
  ended.stopped_by = processes_.asked_by();
  const bool had_terminal = job_.end(signal || stopped);
  // A command that catches ^C and exits with 130 reports the same as one that died of ^C. If rlock forwarded
  // the signal, a process sent it, and nobody pressed ^C.
  for (const int stroke : {SIGINT, SIGQUIT}) {
    const bool pressed = ended.exit_code == 128 + stroke && !job_.forwarded().contains(stroke);
    if (had_terminal && pressed && !stopped) ended.pressed = stroke;
  }
  if (stopped) wait_for_hidden(child);
  ended.said_lost = processes_.said_lost();
  if (signal || !job_.forwarded().empty()) wait_for_rest();
  if (!family_.group_lives()) return ended;
  ended.left = family_.in_group();
  ended.left_hidden = ended.left.empty();
  return ended;
}

/// Waits for processes of the group that /proc does not show, as long as the lock is ours. If it is lost, waits
/// only for a moment. All of them got KILL when the first process had ended.
void HeldCommand::wait_for_hidden(Child& child) {
  while (family_.group_lives()) {
    const TimePoint now = loop_.now();
    processes_.announce(now, [&] { return child.ended(); });
    if (processes_.said_lost() && now >= plus(first_ended_, options_.last_tries)) return;
    loop_.turn(plus(now, now < plus(first_ended_, kRestEnds) ? kBetweenLooks : kRestEnds));
  }
}

/// Gives the other processes of the group time to end by the signal that ended the first process.
void HeldCommand::wait_for_rest() {
  const TimePoint until = plus(loop_.now(), kRestEnds);
  while (loop_.now() < until && family_.group_lives()) loop_.turn(plus(loop_.now(), kBetweenLooks));
}

}  // namespace rlock
