#include "loop/loop.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace rlock {
namespace {

/// An absolute time as timerfd takes it. Zero would disarm the timer, so a time before the boot becomes the first
/// nanosecond.
itimerspec expiry(TimePoint at) {
  itimerspec spec{};
  if (at == kNever) return spec;
  const auto since_boot = std::max<std::int64_t>(at.time_since_epoch().count(), 1);
  spec.it_value.tv_sec = since_boot / 1'000'000'000;
  spec.it_value.tv_nsec = since_boot % 1'000'000'000;
  return spec;
}

int new_timer() {
  const int timer = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer < 0) throw_system_error("cannot make a timer");
  return timer;
}

}  // namespace

Loop::Loop() : timer_(new_timer()) {}

void Loop::take_own_timer() {
  timer_.reset();  // first, because there may be no other free descriptor
  timer_.reset(new_timer());
  armed_ = kNever;
}

Membership::Membership(Loop& loop, Source& source) : loop_(loop), source_(source) {
  loop_.sources_.push_back(&source_);
}

Membership::~Membership() {
  std::erase(loop_.sources_, &source_);
  std::ranges::replace(loop_.turn_, &source_, nullptr);
}

std::vector<Source*>& Loop::begin_turn() { return turn_ = sources_; }

void Loop::arm(TimePoint at) {
  if (at == armed_) return;
  const itimerspec spec = expiry(at);
  if (::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0)
    throw_system_error("cannot set a timer");
  armed_ = at;
}

void Loop::turn(TimePoint until) {
  const std::vector<Source*>& present = begin_turn();
  // No longer than necessary, because poll() refuses more entries than open files are allowed.
  std::vector<pollfd> polled{{timer_.number(), POLLIN, 0}};
  std::vector<std::size_t> place(present.size(), 0);
  TimePoint at = until;
  for (std::size_t i = 0; i < present.size(); ++i) {
    at = earliest(at, present[i]->wake_at());
    if (present[i]->fd() < 0) continue;
    place[i] = polled.size();
    polled.push_back({present[i]->fd(), present[i]->interest(), 0});
  }
  const auto look = [&polled](int timeout) {
    if (::poll(polled.data(), polled.size(), timeout) < 0 && errno != EINTR)
      throw_system_error("cannot wait");
  };
  TimePoint time = now();
  if (time < at) {
    arm(at);
    look(-1);
    if (polled[0].revents != 0) armed_ = TimePoint::min();  // expired, so the next arm() must set it
    time = now();
  }
  // This process may have been suspended before `time` was taken. What has arrived by then is read before a deadline counts.
  if (time >= at) look(0);

  for (const bool reads : {true, false}) {
    for (std::size_t i = 0; i < present.size(); ++i) {
      Source* source = present[i];
      if (source == nullptr || (place[i] != 0) != reads) continue;
      const short events = reads ? polled[place[i]].revents : short{0};
      if (events != 0 || source->wake_at() <= time) source->ready(events, time);
    }
  }
}

}  // namespace rlock
