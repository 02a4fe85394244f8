// The command has a process group of its own, so that it can be signalled as one. The price is paid here:
// what the terminal and the shell would do for a process of our group, we have to do for it. Three things
// come in, each turn: a stop of the command (on_stop), a signal to us (on_signal), and the time to look for
// the terminal again (claim_terminal).
//
//   it wants to read the terminal  it is stopped by SIGTTIN; we lend it the terminal if that is ours to lend,
//                                  else we look again every 200 ms
//   ^Z                             reaches the command alone while it has the terminal: then we stop our
//                                  whole group, so that the shell gets the terminal back as it expects
//   fg                             continues us: the lock may have been lost while we were stopped, so the
//                                  command goes on only when the owner of this object calls resume()
//
// A stop is told twice when a shell stops all of us at once: told_to_stop_ and has_come(SIGCONT) keep us from
// stopping a second time when the other processes already run again.
//
// A CONT can also come before the command has stopped at the TSTP that we have passed on. It waits for that
// stop (continue_at_). Sent at once, it would be lost on a program that catches TSTP and stops itself a little
// later, and on a process that is just being forked: Linux gives it the TSTP of its parent, but not the CONT.

#include "loop/job_control.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace rlock {
namespace {

/// How often we check whether the terminal is ours while the command waits for it: a shell that brings a
/// running job to the foreground sends no signal.
constexpr Milliseconds kBetweenClaims{200};

/// How long a CONT waits for a command that was told to stop. One that catches TSTP may never do so.
constexpr Milliseconds kStopTakes{1000};

/// What the terminal sends to the group in the foreground: keys, and a new size of the window.
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
  waiting_ = waiting_ && child.stopped();  // another process may have continued it
  if (waiting_ && now >= next_claim_) claim_terminal(child, now);
}

void JobControl::on_stop(Child& child, int by, TimePoint now) {
  const bool told = std::exchange(told_to_stop_, false);
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
      // Only a ^Z that the terminal sent to the command alone has to be shared. In all other cases our group
      // has got it too, or it was sent to the command alone on purpose.
      if (terminal_.lent()) return stop_too(true);
      // A process above us (xargs) that stopped before we did may have been continued already, and we with
      // it.
      if (told && signals_.has_come(SIGCONT)) break;
      if (told || terminal_.ours()) return stop_too(false);
      break;
    default:  // SIGSTOP: with the terminal lent, the shell would wait for ever for the command to go on
      if (terminal_.lent()) return stop_too(true);
  }
}

void JobControl::claim_terminal(const Child& child, TimePoint now) {
  waiting_ = false;
  const bool there = terminal_.find();
  if (there && (terminal_.ours() || terminal_.lent()) && terminal_.lend(child.pid()))
    return pass_on(child, SIGCONT);
  waiting_ = true;
  next_claim_ = plus(now, kBetweenClaims);
  if (std::exchange(said_, true)) return;  // once in a run
  complain("the command waits for the terminal; it goes on when rlock is in the foreground");
}

void JobControl::on_signal(const Child& child, const Caught& caught, TimePoint now) {
  switch (caught.number) {
    case SIGCONT:
      if (std::exchange(told_to_stop_, false))
        continue_at_ = plus(told_at_, kStopTakes);
      else
        resume_ = true;
      return;
    case SIGTTIN:
    case SIGTTOU: others_wait_ = true; return;  // for another process of our group: end() continues it
    case SIGTSTP:
      told_to_stop_ = true;
      told_at_ = now;
      continue_at_ = kNever;  // the later of two signals counts
      break;
    default: break;
  }
  if (of_terminal(caught) && terminal_.lent())
    return;  // the command has got its own, or the key was pressed before it had the terminal
  passed_on_ = caught.number;
  pass_on(child, caught.number);
}

void JobControl::pass_on(const Child& child, int number) {
  if (child.signal(number) == EPERM) refused_ = true;
}

void JobControl::stop_too(bool group) {
  terminal_.take_back();  // the shell expects it with the group that it has started
  before_stop_();
  signals_.stop(group ? 0 : ::getpid());
  resume_ = true;  // we run again: we were continued
}

void JobControl::resume(const Child& child) {
  resume_ = false;
  if (terminal_.to_be_handed_over() || (wanted_ && terminal_.ours())) terminal_.lend(child.pid());
  pass_on(child, SIGCONT);
}

bool JobControl::end(bool killed) {
  const bool had_it = terminal_.lent();
  terminal_.take_back();
  // An editor that was killed leaves the terminal without echo.
  if (killed) terminal_.restore_modes();
  if (others_wait_) share_with_group(SIGCONT);
  return had_it;
}

void share_with_group(int number) noexcept { ::kill(0, number); }

}  // namespace rlock
