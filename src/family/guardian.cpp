// rlock's side of the guardian: it starts the process, writes orders into its pipe, and replaces the guardian when it
// dies. The other side is guardian_loop.cpp.
//
// The pipe tells each process when the other one dies. When rlock dies, the kernel closes the writing side, and the
// guardian kills the command at once. When the guardian dies, the pipe becomes ready here with an error. Then
// rlock starts a new guardian, which gets all that the old one knew (guarded_, deadlines_, stop_sent_).
//
// A guardian that was stopped (SIGSTOP) guards nothing. The kernel tells its parent by SIGCHLD, and rlock
// continues it. To replace it would leave a moment without a guardian, in which rlock may be killed. If rlock
// dies first, the kernel continues the guardian: see detach() in guardian_main.cpp.
//
// A guardian that hangs must not hold up rlock. rlock waits for its exit only after it was dismissed or its pipe was
// closed.

#include "family/guardian.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "process/fork.h"

namespace rlock {
namespace {

/// The third guardian and each later one starts at least this long after the one before it. Something may kill each of
/// them at once.
constexpr Milliseconds kBetweenTwo{200};

}  // namespace

Guardian::Guardian(Loop& loop, const Signals& signals, Guarded guarded, const Deadlines& deadlines)
    : loop_(loop),
      signals_(signals),
      seen_changes_(signals.child_changes()),
      guarded_(std::move(guarded)),
      deadlines_(deadlines) {
  start(loop_.now());
  dismissed_ = start_errno_ != 0;  // one that has never run is not replaced: our owner runs no command then
}

Guardian::~Guardian() {
  // Otherwise the guardian would take us for killed, but an exception has left the release undone, and reports that.
  if (guarded_.ended && !dismissed_) dismiss();
  reap();
}

void Guardian::start(TimePoint now) {
  // The first guardian that dies is replaced at once, because nothing guards the command until then.
  next_start_ = started_before_ ? plus(now, kBetweenTwo) : now;
  started_before_ = true;
  // A write must not block: if the guardian was stopped and its pipe is full, we must not wait.
  Pipe pipe{O_NONBLOCK};
  start_errno_ = pipe ? 0 : errno;
  if (start_errno_ != 0) return;
  orders_ = std::move(pipe.writing);
  pid_ = fork_for([&] {
    // If the guardian kept this end of its own pipe, it would never see that rlock closes the pipe.
    orders_.reset();
    guardian_main(pipe.reading.number(), guarded_, deadlines_);
  });
  start_errno_ = pid_ < 0 ? errno : 0;
  pipe.reading.reset();  // if we kept it, the pipe would not tell us of the guardian's end
  if (stop_sent_) write({.kind = Order::stop_sent});
  if (pid_ < 0) reap();
}

void Guardian::continue_if_stopped() noexcept {
  seen_changes_ = signals_.child_changes();
  siginfo_t info;
  info.si_pid = 0;
  // If it already runs again, waitid() reports nothing.
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) != 0 || info.si_pid == 0) return;
  ::kill(pid_, SIGCONT);
}

void Guardian::reap() noexcept {
  orders_.reset();
  // A guardian that is stopped does not read that it is dismissed. We might wait for it for ever, so we kill it. As
  // PID 1 we may have reaped it among the orphans; then it has no pid any more.
  const pid_t guardian = std::exchange(pid_, -1);
  if (guardian <= 0) return;
  if (dismissed_) {
    if (::waitpid(guardian, nullptr, WNOHANG) != 0) return;
    ::kill(guardian, SIGKILL);
  }
  ::waitpid(guardian, nullptr, 0);
}

void Guardian::write(const Order& order) const noexcept {
  // This may fail: the pipe is full if the guardian is stopped, and it is closed if the guardian has died and will be
  // replaced.
  (void)!::write(orders_.number(), &order, sizeof order);
}

void Guardian::set_group(pid_t group) noexcept {
  guarded_.group = group;  // for a guardian that replaces this one
  write({.kind = Order::group, .pid = group});
}

void Guardian::set_deadlines(const Deadlines& deadlines) noexcept {
  if (deadlines == deadlines_) return;  // called in each turn of the loop
  deadlines_ = deadlines;
  write({.kind = Order::deadlines, .until = deadlines});
}

void Guardian::set_stop_sent() noexcept {
  if (std::exchange(stop_sent_, true)) return;
  write({.kind = Order::stop_sent});
}

void Guardian::set_ended(std::optional<int> exit) noexcept {
  guarded_.ended = true;
  guarded_.exit = exit;
  write({.kind = Order::ended, .exit = exit});
}

void Guardian::dismiss() noexcept {
  dismissed_ = true;
  write({.kind = Order::dismissed});
}

TimePoint Guardian::wake_at() const {
  if (dismissed_) return kNever;
  if (!orders_) return next_start_;
  return signals_.child_changes() == seen_changes_ ? kNever : TimePoint::min();
}

void Guardian::ready(short events, TimePoint now) {
  if (dismissed_) return;
  if (events != 0) {  // only the guardian's end makes our end of the pipe ready
    reap();
    debug("the guardian has died");
  }
  if (orders_)
    continue_if_stopped();
  else if (now >= next_start_)
    replace(now);
}

void Guardian::replace(TimePoint now) {
  start(now);
  if (std::exchange(missing_, start_errno_ != 0) || !missing_ || guarded_.ended) return;
  warn(
      fmt::format("the guardian has died, and no other one can be started ({}): if rlock is killed now, "
                  "processes run on without the lock; trying again",
                  std::strerror(start_errno_)));
}

}  // namespace rlock
