#include "loop/job_control.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace rlock {
namespace {

/// How often we check whether the terminal is ours while the command waits
/// for it: a shell that brings a running job to the foreground tells nobody.
constexpr Milliseconds kBetweenClaims{200};

/// What keys and the window send to the group in the foreground.
constexpr int kOfTerminal[] = {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH};

bool of_terminal(const Caught& caught) {
  return !caught.by_process && std::ranges::find(kOfTerminal, caught.number) != std::end(kOfTerminal);
}

}  // namespace

JobControl::JobControl(Signals& signals, Terminal& terminal, std::function<void()> before_stop)
    : signals_(signals), terminal_(terminal), before_stop_(std::move(before_stop)) {}

void JobControl::turn(Child& child, TimePoint now) {
  if (const auto by = child.take_stop()) on_stop(child, *by, now);
  for (const Caught& caught : signals_.take()) on_signal(child, caught);
  waiting_ = waiting_ && child.stopped();
  if (waiting_ && now >= next_claim_) claim_terminal(child, now);
}

void JobControl::on_stop(Child& child, int by, TimePoint now) {
  const bool told = std::exchange(told_to_stop_, false);
  switch (by) {
    case SIGTTIN:
    case SIGTTOU:
      wanted_ = true;
      claim_terminal(child, now);
      break;
    case SIGTSTP:
      // Only what the terminal sent to the command alone has to be
      // shared: otherwise the group has got it, or nobody meant it.
      if (terminal_.lent()) return stop_too(true);
      // Whoever was sooner to stop than we were (xargs) may already have been continued, and we with him.
      if (told && signals_.has_come(SIGCONT)) break;
      if (told || terminal_.ours()) return stop_too(false);
      break;
    default:
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
  if (std::exchange(said_, true)) return;
  complain("the command waits for the terminal; it goes on when rlock is in the foreground");
}

void JobControl::on_signal(const Child& child, const Caught& caught) {
  switch (caught.number) {
    case SIGCONT:
      resume_ = true;
      told_to_stop_ = false;
      return;
    case SIGTTIN:
    case SIGTTOU: others_wait_ = true; return;
    case SIGTSTP: told_to_stop_ = true; break;
    default: break;
  }
  if (of_terminal(caught) && terminal_.lent())
    return;  // it was sent before the command had the terminal, or it is not for us
  passed_on_ = caught.number;
  pass_on(child, caught.number);
}

void JobControl::pass_on(const Child& child, int number) {
  if (child.signal(number) == EPERM) refused_ = true;
}

void JobControl::stop_too(bool group) {
  terminal_.take_back();
  before_stop_();
  signals_.stop(group ? 0 : ::getpid());
  resume_ = true;
}

void JobControl::resume(const Child& child) {
  resume_ = false;
  if (terminal_.to_be_handed_over() || (wanted_ && terminal_.ours())) terminal_.lend(child.pid());
  pass_on(child, SIGCONT);
}

bool JobControl::end(bool killed) {
  const bool had_it = terminal_.lent();
  terminal_.take_back();
  if (killed) terminal_.restore_modes();
  if (others_wait_) share_with_group(SIGCONT);
  return had_it;
}

void share_with_group(int number) noexcept { ::kill(0, number); }

}  // namespace rlock
