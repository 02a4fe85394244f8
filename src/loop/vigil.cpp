#include "loop/vigil.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "loop/family.h"
#include "loop/loop.h"

namespace rlock {
namespace {

/// How long a guardian without rlock goes on against what KILL does not end (a process that waits for a disk).
constexpr Milliseconds kLastTries{10000};

/// The nice value of whoever goes before everybody else.
constexpr int kFirst = -20;

/// Away from everything that could end us together with rlock or could be kept busy by us: its session and
/// terminal, its descriptors, signals, and `killall rlock`.
void detach(int orders) {
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  if (orders > 0) ::close_range(0, static_cast<unsigned>(orders) - 1, 0);
  ::close_range(static_cast<unsigned>(orders) + 1, ~0U, 0);
  // Those whom it has to kill in time must not keep it from the processor. Most users may not ask for that.
  ::setpriority(PRIO_PROCESS, 0, kFirst);
  ::prctl(PR_SET_NAME, "guardian");
  // Where `ps` and `pkill -f` look: as much of another name as has room in ours.
  char* const name = program_invocation_name;
  const std::size_t room = std::strlen(name);
  std::memset(name, 0, room);
  std::memcpy(name, "guardian", std::min(room, std::size_t{8}));
}

class Vigil final : public Source {
 public:
  Vigil(int orders, const Charge& charge, const Deadlines& deadlines)
      : orders_(orders),
        family_(charge.group, charge.session, charge.marks),
        insist_(charge.signal),
        deadlines_(allowing(deadlines)) {}

  int fd() const override { return bereft() ? -1 : orders_; }
  short interest() const override { return POLLIN; }
  TimePoint wake_at() const override { return resting_ ? kNever : insist_.wake_at(deadlines_); }

  void ready(short events, TimePoint now) override {
    if (events != 0) listen();
    while (const auto signal = insist_.next(now, deadlines_)) {
      family_.signal(*signal);
      if (insist_.killing()) resting_ = family_.all().empty() && !family_.group_lives();
    }
    if (bereft() && (resting_ || now >= give_up_)) ::_exit(0);
  }

 private:
  static Deadlines allowing(const Deadlines& told) {
    if (told.stop >= told.kill) return told;
    return {earliest(later(told.stop, kAfterYou), told.stop + (told.kill - told.stop) / 2), told.kill};
  }

  void listen() {
    Order order;
    ssize_t got = 0;
    while ((got = ::read(orders_, &order, sizeof order)) == sizeof order) obey(order);
    if (got == 0) {
      // Whoever was to renew is dead, and the kernel has killed the command's first process with it.
      give_up_ = later(Clock::now(), kLastTries);
      resting_ = false;
      insist_.hurry();
    }
  }

  bool bereft() const { return give_up_ != kNever; }  ///< rlock has died

  void obey(const Order& order) {
    switch (order.kind) {
      case Order::group:
        family_.set_group(order.pid);
        resting_ = false;  // who is born too late has to be killed, too
        break;
      case Order::deadlines: deadlines_ = allowing(order.until); break;
      case Order::stop_sent: insist_.skip_stop(); break;
      case Order::dismissed: ::_exit(0);
    }
  }

  int orders_;
  Family family_;
  Insistence insist_;
  Deadlines deadlines_;
  TimePoint give_up_ = kNever;  ///< when we leave even if somebody cannot be killed
  bool resting_ = false;        ///< nobody is left to kill
};

}  // namespace

void keep_vigil(int orders, const Charge& charge, const Deadlines& deadlines) {
  detach(orders);
  Loop loop;
  Vigil vigil{orders, charge, deadlines};
  loop.join(vigil);
  for (;;) loop.turn(kNever);
}

}  // namespace rlock
