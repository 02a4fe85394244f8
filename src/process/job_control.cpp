// The command has its own process group, so that we can signal the whole group. So we must do the work that
// the terminal and the shell would do for our own group. In each turn we handle a stop of the command
// (on_stop), a signal to us (on_signal), and the next try to get the terminal (claim_terminal).
//
//   read of the terminal  The kernel stops the command by SIGTTIN. We lend it the terminal if it is ours;
//                         otherwise we look again every 200 ms.
//   ^Z                    If the command has the terminal, ^Z reaches only the command. Then we stop our
//                         whole group, so that the shell gets the terminal back.
//   fg                    The shell continues us. The lock may be lost by now, so the command goes on only
//                         when our owner calls resume().
//
// If a shell stops all of us at once, we hear of the stop twice. stop_forwarded_ and has_come(SIGCONT) prevent
// a second stop when the other processes already run again.
//
// CONT may come after we forwarded TSTP, but before the command has stopped. Then we hold CONT back until the
// stop (continue_at_). If we sent it at once, a program that catches TSTP would lose it and stop a little
// later. So would a process that is just being forked: Linux gives it the TSTP of its parent, but not the CONT.

#include "process/job_control.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace rlock {
namespace {

/// While the command waits for the terminal, we check this often whether the terminal is ours. A shell sends no
/// signal when it brings a running job to the foreground.
constexpr Milliseconds kBetweenClaims{200};

/// CONT waits this long for a command to stop after TSTP. A command that catches TSTP may never stop.
constexpr Milliseconds kStopTakes{1000};

/// The signals that a terminal sends to the group in the foreground: for strokes, and for a new window size.
constexpr int kOfTerminal[] = {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH};

bool of_terminal(const Caught& caught) {
  return !caught.by_process && std::ranges::find(kOfTerminal, caught.number) != std::end(kOfTerminal);
}

}  // namespace

JobControl::JobControl(Signals& signals, Terminal& terminal, std::function<void()> before_stop)
    : signals_(signals), terminal_(terminal), before_stop_(std::move(before_stop)) {}

void JobControl::turn(Child& child, TimePoint now) {
  if (const auto by = child.take_stop()) on_stop(child, *by, now);
  for (const Caught& caught : signals_.take()) on_signal(child, caught, now);
  if (now >= continue_at_) {
    continue_at_ = kNever;
    resume_ = true;
  }
  waiting_ = waiting_ && child.stopped();  // another process may have continued the command
  if (waiting_ && now >= next_claim_) claim_terminal(child, now);
}

void JobControl::on_stop(Child& child, int by, TimePoint now) {
  const bool forwarded = std::exchange(stop_forwarded_, false);
  if (continue_at_ != kNever) {  // we were continued meanwhile
    continue_at_ = kNever;
    resume_ = true;
    return;
  }
  switch (by) {
    case SIGTTIN:
    case SIGTTOU:
      wanted_ = true;
      claim_terminal(child, now);
      break;
    case SIGTSTP:
      // If the command has the terminal, ^Z reached it alone, so our whole group stops too. Otherwise our group got
      // ^Z as well and only we stop, or a process sent TSTP to the command on purpose and we go on.
      if (terminal_.lent()) return stop_too(Whom::our_group);
      // We forwarded ^Z, but SIGCONT has come since, so our group was stopped and continued meanwhile, for example
      // with xargs above us. So rlock must not stop any more.
      if (forwarded && signals_.has_come(SIGCONT)) break;
      if (forwarded || terminal_.ours()) return stop_too(Whom::us);
      break;
    default:  // SIGSTOP: if the command has the terminal, the shell would wait for ever
      if (terminal_.lent()) return stop_too(Whom::our_group);
  }
}

void JobControl::claim_terminal(const Child& child, TimePoint now) {
  waiting_ = false;
  const bool there = terminal_.find();
  if (there && (terminal_.ours() || terminal_.lent()) && terminal_.lend(child.pid()))
    return forward(child, SIGCONT);
  waiting_ = true;
  next_claim_ = plus(now, kBetweenClaims);
  if (std::exchange(said_, true)) return;  // once in a run
  warn("the command waits for the terminal; it goes on when rlock is in the foreground");
}

void JobControl::on_signal(const Child& child, const Caught& caught, TimePoint now) {
  switch (caught.number) {
    case SIGCONT:
      if (std::exchange(stop_forwarded_, false))
        continue_at_ = plus(stop_forwarded_at_, kStopTakes);
      else
        resume_ = true;
      return;
    case SIGTTIN:
    case SIGTTOU: others_wait_ = true; return;  // end() continues the process of our group that got it
    case SIGTSTP:
      stop_forwarded_ = true;
      stop_forwarded_at_ = now;
      continue_at_ = kNever;  // the later signal counts
      break;
    default: break;
  }
  if (of_terminal(caught) && terminal_.lent())
    return;  // the command got it too, or the stroke came before it had the terminal
  forwarded_.insert(caught.number);
  forward(child, caught.number);
}

void JobControl::forward(const Child& child, int number) {
  if (child.signal(number) == EPERM) refused_ = true;
}

void JobControl::stop_too(Whom whom) {
  terminal_.take_back();  // the shell expects that its own job has it
  before_stop_();
  signals_.stop(whom == Whom::our_group ? 0 : ::getpid());
  resume_ = true;  // we run again, so we were continued
}

void JobControl::resume(const Child& child) {
  resume_ = false;
  if (terminal_.to_be_handed_over() || (wanted_ && terminal_.ours())) terminal_.lend(child.pid());
  forward(child, SIGCONT);
}

bool JobControl::end(bool killed) {
  const bool had_it = terminal_.lent();
  terminal_.take_back();
  // An editor that was killed may leave the terminal without echo.
  if (killed) terminal_.restore_modes();
  if (others_wait_) share_with_group(SIGCONT);
  return had_it;
}

void share_with_group(int number) noexcept { ::kill(0, number); }

}  // namespace rlock
