// The guardian process: a loop with one source, the pipe from rlock. read_orders() keeps group and deadlines
// up to date; Escalation says which signal is due; Family sends it.
//
// It acts in two cases.
// - A deadline passes that no order has moved: rlock is stopped or stuck. The command gets the stop signal a
//   little later than from rlock (kLaterThanRlock), and KILL when rlock would have sent it. If rlock stands still
//   until its time is over, the guardian releases, and so writes the end of the hold into the history.
// - The pipe ends: rlock is dead, and nothing renews the lock. Everything that is left of the command gets KILL, for
//   at most kLastTries, and kWaitForSilent more for a process that /proc does not show. If no process is left, the guardian releases what rlock held, so that no waiter waits for the
//   rest of the lease. It does not release while a process may live that works under the lock
//   (Family::surely_gone), even in another session, where the guardian kills none.
//
// After the command has ended (Order::ended), the guardian signals no process, because their numbers may belong to
// other processes. It stays until rlock has released. If the pipe ends before that, the guardian releases as above.
// Both releases are the same request, so it does no harm if that of rlock has arrived, too.
//
// It must not die of what kills or stops rlock: a signal to its group or session, a lost terminal, `killall
// rlock`. So it leaves all of that behind first, and then needs nothing but its pipe and /proc.

#include "family/guardian_main.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "family/command_family.h"
#include "family/script_family.h"
#include "loop/loop.h"
#include "process/close_range.h"
#include "process/processes.h"
#include "process/script_tag.h"

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

constexpr int kHighestPriority = -20;

/// The bytes from the first argument to the end of the last one. The kernel puts the arguments, the environment and
/// the name of the file one behind the other. If a library has moved the environment, only the first argument counts.
std::size_t room_of_arguments(const char* first) {
  const char* const file = std::bit_cast<const char*>(::getauxval(AT_EXECFN));  // an address in our stack
  const char* const end = environ != nullptr && *environ != nullptr ? *environ : file;
  return end > first ? static_cast<std::size_t>(end - first) : std::strlen(first);
}

/// Leaves everything that could end this process together with rlock: its session and terminal, its
/// descriptors, signals, and `killall rlock`.
void detach(int orders) {
  ::setsid();
  shed_tag();
  // If this process is stopped, rlock's death continues it: the kernel then sends SIGCONT.
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // All descriptors but one are closed, because a pipe of the command's that we held open would never end for its
  // reader.
  close_all_but({orders});
  // The processes that it has to kill in time must not take its processor time. Most users may not raise a priority.
  // Then it stays as it is.
  ::setpriority(PRIO_PROCESS, 0, kHighestPriority);
  ::prctl(PR_SET_NAME, "guardian");
  // `ps` and `pkill -f` read the arguments. `pkill -f 'run -k deploy'` means rlock, and must not find the guardian.
  char* const name = program_invocation_name;
  const std::size_t room = room_of_arguments(name);
  std::memset(name, 0, room);
  std::memcpy(name, "guardian", std::min(room, std::size_t{8}));
}

class GuardianLoop final : public Source {
 public:
  /// `family`: the guarded processes: `command`, or the family of a script.
  GuardianLoop(int orders, const Guarded& guarded, Family& family, CommandFamily& command,
               const Deadlines& deadlines)
      : orders_(orders),
        rlock_(::getppid()),
        family_(family),
        command_(command),
        escalation_(guarded.signal),
        deadlines_(allowing(deadlines)) {
    if (guarded.ended) guard_release(guarded.exit);
  }

  // A pipe that has ended is always ready, so the loop would never sleep again if it still watched the pipe.
  int fd() const override { return orphaned() ? -1 : orders_; }
  TimePoint wake_at() const override {
    return earliest(signals() ? escalation_.wake_at(deadlines_) : next_check_, next_look_);
  }

  void ready(short events, TimePoint now) override {
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
    const TimePoint last = signals() ? give_up_ : give_up_release_;
    over_ = end_.has_value() ||
            (orphaned() && now >= (family_.unanswered().empty() ? last : plus(last, kWaitForSilent)));
  }

  bool over() const noexcept { return over_; }  ///< nothing is left to do here

  /// Set if no process seems to live any more and rlock cannot release. Empty if rlock can, or if a process
  /// may live.
  std::optional<LeftAlone> left_alone() const {
    if (!end_) return std::nullopt;
    return LeftAlone{
        .how = *end_, .ended = stage_ == Stage::ended, .exit = exit_, .good_until = deadlines_.kill};
  }

 private:
  /// What the guardian does about the command's processes.
  enum class Stage {
    signals,  ///< some may live: Escalation says which signal they get, and when
    rests,    ///< KILL has left none in the command's group; if check() finds others, they are signalled
    ended,    ///< see Order::ended: no process is signalled any more
  };

  bool signals() const noexcept { return stage_ == Stage::signals; }

  /// The same deadlines, but with room for rlock to send the stop signal first. Never later than halfway to
  /// KILL.
  static Deadlines allowing(const Deadlines& due) {
    if (due.stop >= due.kill) return due;
    return {earliest(plus(due.stop, kLaterThanRlock), due.stop + (due.kill - due.stop) / 2), due.kill};
  }

  /// Remembers the descendants of the command. A process in another session without our marks is found only
  /// if a look saw it before its parent ended. A command starts most of its processes soon.
  void look(TimePoint now) {
    const bool again = look_again_ <= kLastLook;
    next_look_ = again ? plus(now, look_again_) : kNever;
    if (again) look_again_ *= 2;  // bounded, because each renewal calls this, for months
    if (!escalation_.begun()) family_.look();
  }

  /// No process is left to kill. Processes in other sessions may go on working, but most of them end soon, because
  /// nested runs have guardians, too.
  void await_others(TimePoint now) {
    next_check_ = now;
    give_up_release_ = Family::sees_everybody() ? plus(now, kOthersEnd) : now;
  }

  void check(TimePoint now) {
    next_check_ = now < give_up_release_ ? plus(now, kCheckAgain) : kNever;
    const auto rlock = orphaned() ? std::nullopt : facts_of(rlock_);
    // A living rlock reports the loss itself
    const bool may_release = orphaned() || (rlock && rlock->stopped());
    if (may_release && family_.surely_gone(now))
      end_ = orphaned() ? RlockEnd::killed : RlockEnd::stopped;
    else if (stage_ == Stage::rests && !(family_.all(now).empty() && family_.unanswered().empty()))
      stage_ = Stage::signals;
  }

  /// Reads all orders, because an old deadline does not count if a newer one stands behind it.
  void read_orders(TimePoint now) {
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

  bool orphaned() const { return give_up_ != kNever; }  ///< rlock has died

  /// From now on the guardian rests until rlock dies.
  void guard_release(std::optional<int> exit) {
    stage_ = Stage::ended;
    next_check_ = next_look_ = kNever;
    exit_ = exit;
  }

  void obey(const Order& order) {
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

  int orders_;
  pid_t rlock_;
  Family& family_;
  CommandFamily& command_;
  Escalation escalation_;
  Deadlines deadlines_;
  Stage stage_ = Stage::signals;
  std::optional<int> exit_;  ///< see Order::exit

  TimePoint give_up_ = kNever;              ///< the guardian ends then, even if a process cannot be killed
  TimePoint next_check_ = kNever;           ///< not while it signals: the next check whether processes live
  TimePoint give_up_release_ = kNever;      ///< then the lock is left to its lease
  TimePoint next_look_ = TimePoint::min();  ///< the next look for the command's descendants
  Milliseconds look_again_ = kFirstLook;
  std::optional<RlockEnd> end_;
  bool over_ = false;
};

}  // namespace

void guardian_main(int orders, const Guarded& guarded, const Deadlines& deadlines) {
  detach(orders);
  Loop loop;
  CommandFamily command{guarded.group, guarded.session, guarded.marks};
  std::optional<ScriptFamily> script;
  if (guarded.script.pid != 0) script.emplace(guarded.script, guarded.session);
  GuardianLoop guardian{orders, guarded, script ? static_cast<Family&>(*script) : command, command,
                        deadlines};
  const Membership membership{loop, guardian};
  while (!guardian.over()) loop.turn(kNever);
  if (const auto alone = guardian.left_alone(); alone && guarded.when_nobody_lives)
    guarded.when_nobody_lives(*alone);
  ::_exit(0);
}

}  // namespace rlock
