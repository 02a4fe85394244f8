// rlock's end of the guardian: it starts the process, writes orders into its pipe, and replaces it when it
// dies. The other end is guardian_main.cpp.
//
// The pipe tells both sides about the other's end. When rlock dies, the kernel closes its end, and the
// guardian kills the command at once. When the guardian dies, the pipe becomes ready here with an error, and
// a new one is started, which gets all that the old one knew (guarded_, deadlines_, stop_sent_).
//
// The guardian is for the case that rlock is stuck: so nothing here waits for the guardian, until at
// last it is dismissed or its pipe is closed, and its end is awaited.

#include "loop/guardian.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/log.h"

namespace rlock {
namespace {

/// From the second one on, guardians are not started more often than this: something may kill each of them.
constexpr Milliseconds kBetweenTwo{200};

}  // namespace

Guardian::Guardian(Loop& loop, Guarded guarded, const Deadlines& deadlines)
    : loop_(loop), guarded_(std::move(guarded)), deadlines_(deadlines) {
  start(loop_.now());
  loop_.join(*this);
}

Guardian::~Guardian() {
  loop_.leave(*this);
  reap();
}

void Guardian::start(TimePoint now) {
  // The first guardian that dies is replaced at once: without a guardian rlock must not be stopped.
  next_start_ = started_before_ ? plus(now, kBetweenTwo) : now;
  started_before_ = true;
  int ends[2];
  // Without blocking: a guardian that was stopped must not hold us up when its pipe is full.
  start_errno_ = ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 ? 0 : errno;
  if (start_errno_ != 0) return;
  Descriptor reading{ends[0]};
  orders_.reset(ends[1]);
  pid_ = ::fork();
  if (pid_ == 0) {
    orders_.reset();  // else it would never see the pipe end, where there is no close_range(2)
    guardian_main(reading.number(), guarded_, deadlines_);
  }
  start_errno_ = pid_ < 0 ? errno : 0;
  reading.reset();  // only the guardian may have it: else the pipe would not tell us of its end
  if (stop_sent_) write({.kind = Order::stop_sent});
  if (pid_ < 0) reap();
}

void Guardian::reap() noexcept {
  orders_.reset();
  // A stopped guardian reads no orders: we would wait for it until it is continued.
  // One that was reaped among the orphans, where we are PID 1, has no pid any more.
  if (dismissed_ && pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) ::kill(pid_, SIGKILL);
  if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void Guardian::write(const Order& order) const noexcept {
  // It may fail: a guardian that does not read is stopped, one whose pipe is closed will be replaced.
  (void)!::write(orders_.number(), &order, sizeof order);
}

void Guardian::tell_group(pid_t group) noexcept {
  guarded_.group = group;  // for a guardian that replaces this one
  write({.kind = Order::group, .pid = group});
}

void Guardian::tell(const Deadlines& deadlines) noexcept {
  if (deadlines == deadlines_) return;  // called in each turn of the loop
  deadlines_ = deadlines;
  write({.kind = Order::deadlines, .until = deadlines});
}

void Guardian::tell_stop_sent() noexcept {
  if (std::exchange(stop_sent_, true)) return;
  write({.kind = Order::stop_sent});
}

void Guardian::dismiss() noexcept {
  dismissed_ = true;
  write({.kind = Order::dismissed});
}

TimePoint Guardian::wake_at() const { return orders_ || dismissed_ ? kNever : next_start_; }

void Guardian::ready(short events, TimePoint now) {
  if (dismissed_) return;
  if (events != 0) {  // only its end makes the writing end ready
    reap();
    mention("the guardian has died");
  }
  if (now >= next_start_) start(now);
}

}  // namespace rlock
