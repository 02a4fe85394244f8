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

/// A guardian that dies of its own accord is not replaced more often than this.
constexpr Milliseconds kBetweenTwo{200};

}  // namespace

Guardian::Guardian(Loop& loop, Guarded guarded, const Deadlines& deadlines)
    : loop_(loop), guarded_(std::move(guarded)), deadlines_(deadlines) {
  start(Clock::now());
  loop_.join(*this);
}

Guardian::~Guardian() {
  loop_.leave(*this);
  reap();
}

void Guardian::start(TimePoint now) {
  started_ = now;
  int ends[2];
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
  reading.reset();
  if (stop_sent_) write({.kind = Order::stop_sent});
  if (pid_ < 0) reap();
}

void Guardian::reap() noexcept {
  orders_.reset();
  // One that somebody has stopped reads no orders, and would be waited for until somebody continues it. One
  // that PID 1 has buried among its orphans has no number any more.
  if (dismissed_ && pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) ::kill(pid_, SIGKILL);
  if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void Guardian::write(const Order& order) const noexcept {
  // A guardian that does not read is stopped, one whose pipe
  // is closed will be replaced: neither is to hold us up.
  (void)!::write(orders_.number(), &order, sizeof order);
}

void Guardian::tell_group(pid_t group) noexcept {
  guarded_.group = group;  // for a guardian that replaces this one
  write({.kind = Order::group, .pid = group});
}

void Guardian::tell(const Deadlines& deadlines) noexcept {
  if (deadlines == deadlines_) return;
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

TimePoint Guardian::wake_at() const { return orders_ || dismissed_ ? kNever : plus(started_, kBetweenTwo); }

void Guardian::ready(short events, TimePoint now) {
  if (dismissed_) return;
  if (events != 0) {
    reap();
    mention("the guardian has died");
  }
  if (now >= plus(started_, kBetweenTwo)) start(now);
}

}  // namespace rlock
