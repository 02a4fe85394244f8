// read_orders() keeps group and deadlines up to date; Escalation says which signal is due; Family sends it.
//
// It acts in two cases.
// - A deadline passes that no order has moved: rlock is stopped or stuck. The command gets the stop signal a
//   little later than from rlock (kLaterThanRlock), and KILL when rlock would have sent it. If rlock stands still
//   until its time is over, the guardian releases, and so writes the end of the hold into the history.
// - The pipe ends: rlock is dead, and nothing renews the lock. Everything that is left of the command gets KILL, for
//   at most kLastTries, and kWaitForSilent more for a process that /proc does not show. If no process is left, the
//   guardian releases what rlock held, so that no waiter waits for the rest of the lease. It does not release while a
//   process may live that works under the lock (Family::surely_gone), even in another session, where the guardian
//   kills none.
//
// After the command has ended (Order::ended), the guardian signals no process, because their numbers may belong to
// other processes. It stays until rlock has released. If the pipe ends before that, the guardian releases as above.
// Both releases are the same request, so it does no harm if that of rlock has arrived, too.

#include "family/guardian_loop.h"

#include <unistd.h>

#include "process/processes.h"

namespace rlock {
namespace {

/// How long the guardian waits for processes that it does not kill before it leaves the lock to its lease.
constexpr Milliseconds kOthersEnd{5000};

/// How much longer it tries to kill while /proc has not shown the environment of a process that may belong to the command.
constexpr Milliseconds kWaitForSilent{60000};

/// The interval between two looks at them.
constexpr Milliseconds kCheckAgain{100};

/// The first looks at the command's descendants come soon after its start, each one later than the last.
constexpr Milliseconds kFirstLook{20};
constexpr Milliseconds kLastLook{5120};

/// The same deadlines, but with room for rlock to send the stop signal first. Never later than halfway to
/// KILL.
Deadlines allowing(const Deadlines& due) {
  if (due.stop >= due.kill) return due;
  return {earliest(plus(due.stop, kLaterThanRlock), due.stop + (due.kill - due.stop) / 2), due.kill};
}

}  // namespace

GuardianLoop::GuardianLoop(int orders, pid_t rlock, const Guarded& guarded, Family& family,
                           CommandFamily& command, const Deadlines& deadlines)
    : orders_(orders),
      rlock_(rlock),
      family_(family),
      command_(command),
      escalation_(guarded.signal),
      deadlines_(allowing(deadlines)),
      look_again_(kFirstLook) {
  if (guarded.ended) guard_release(guarded.exit);
}

TimePoint GuardianLoop::wake_at() const {
  return earliest(earliest(signals() ? escalation_.wake_at(deadlines_) : next_check_, next_look_), ends());
}

void GuardianLoop::ready(short events, TimePoint now) {
  if (events != 0) read_orders(now);
  if (now >= next_look_) look(now);
  while (const auto signal = signals() ? escalation_.next(now, deadlines_) : std::nullopt) {
    family_.signal(*signal, now, escalation_.killing() ? kNever : deadlines_.kill);
    if (escalation_.killing() && !command_.group_lives()) {
      stage_ = Stage::rests;
      await_others(now);
    }
  }
  if (!signals() && now >= next_check_) check(now);
  over_ = end_.has_value() || now >= ends();
}

/// When a guardian whose rlock has died ends, whatever it has reached. A silent process may be one that it has to kill.
TimePoint GuardianLoop::ends() const {
  if (!orphaned()) return kNever;
  const TimePoint last = signals() ? give_up_ : give_up_release_;
  return stage_ == Stage::ended || family_.unanswered().empty() ? last : plus(last, kWaitForSilent);
}

std::optional<LeftAlone> GuardianLoop::left_alone() const {
  if (!end_) return std::nullopt;
  return LeftAlone{
      .how = *end_, .ended = stage_ == Stage::ended, .exit = exit_, .good_until = deadlines_.kill};
}

/// Remembers the descendants of the command. A process in another session without our marks is found only
/// if a look saw it before its parent ended. A command starts most of its processes soon.
void GuardianLoop::look(TimePoint now) {
  const bool again = look_again_ <= kLastLook;
  next_look_ = again ? plus(now, look_again_) : kNever;
  if (again) look_again_ *= 2;  // bounded, because each renewal calls this, for months
  if (!escalation_.begun()) family_.look();
}

/// No process is left to kill. Processes in other sessions may go on working, but most of them end soon, because
/// nested runs have guardians, too.
void GuardianLoop::await_others(TimePoint now) {
  next_check_ = now;
  give_up_release_ = Family::sees_everybody() ? plus(now, kOthersEnd) : now;
}

void GuardianLoop::check(TimePoint now) {
  next_check_ = now < give_up_release_ ? plus(now, kCheckAgain) : kNever;
  const auto rlock = orphaned() ? std::nullopt : facts_of(rlock_);
  // A living rlock reports the loss itself.
  const bool may_release = orphaned() || (rlock && rlock->stopped());
  if (may_release && family_.surely_gone(now))
    end_ = orphaned() ? RlockEnd::killed : RlockEnd::stopped;
  else if (stage_ == Stage::rests && !(family_.all(now).empty() && family_.unanswered().empty()))
    stage_ = Stage::signals;
}

/// Reads all orders, because an old deadline does not count if a newer one stands behind it.
void GuardianLoop::read_orders(TimePoint now) {
  Order order{};
  ssize_t got = 0;
  while ((got = ::read(orders_, &order, sizeof order)) > 0) obey(order);
  if (got < 0) return;
  // rlock is dead: nothing renews the lock. The kernel has killed the command's first process
  // (PR_SET_PDEATHSIG); the others are left to us.
  give_up_ = plus(now, kLastTries);
  if (stage_ == Stage::ended) return await_others(now);
  stage_ = Stage::signals;
  escalation_.hurry();
}

/// From now on the guardian rests until rlock dies.
void GuardianLoop::guard_release(std::optional<int> exit) {
  stage_ = Stage::ended;
  next_check_ = next_look_ = kNever;
  exit_ = exit;
}

void GuardianLoop::obey(const Order& order) {
  switch (order.kind) {
    case Order::group:
      command_.set_group(order.pid);
      look_again_ = kFirstLook;
      next_look_ = TimePoint::min();
      stage_ = Stage::signals;  // if the deadline has passed already, this command is killed
      break;
    case Order::deadlines:
      deadlines_ = allowing(order.until);
      next_look_ = TimePoint::min();  // with each renewal
      break;
    case Order::stop_sent: escalation_.skip_stop(); break;
    case Order::ended: guard_release(order.exit); break;
    case Order::dismissed: ::_exit(0);
  }
}

}  // namespace rlock
