#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "loop/loop.h"
#include "loop/source.h"

namespace rlock {

/// A signal that we received.
struct Caught {
  int number;
  /// Sent by kill(), sigqueue() and the like; false: sent by the kernel for a terminal or a timer.
  bool by_process;
};

/// Signals as facts. From construction on, signals do not interrupt or end us; each waits until it is read.
/// But ^Z stops us like any process until take_stops().
///
/// Signals that were ignored at our start (nohup, background jobs of sh) stay ignored. SIGCHLD gets its
/// default action, so that the kernel does not reap for us. SIGPIPE and SIGXFSZ are ignored. KILL, STOP and the faults
/// (SEGV, BUS, FPE, ILL, TRAP, SYS) are not handled.
/// REQUIRES: no other thread, and no other Signals.
class Signals final : public Source {
 public:
  explicit Signals(Loop& loop);

  /// Reads pending signals now, not at the next turn.
  void drain();

  /// For a wait that does not turn the loop: drains, and returns any().
  [[nodiscard]] bool drain_any();

  /// Drains. Has `number` arrived since the last take()?
  bool has_come(int number);

  /// From now on TSTP is a fact too, because a command must be stopped before us.
  void take_stops() const noexcept;

  /// Sends TSTP to `whom`, as for kill() (our pid, or 0 for our group). It stops us, and returns when we have
  /// been continued. If a CONT is unread, or comes before we stop, we do not stop. The reason: TSTP makes the
  /// kernel discard a pending CONT, and perhaps no second one comes. REQUIRES: take_stops()
  void stop(pid_t whom);

  /// The signals since the last take().
  std::vector<Caught> take();

  /// The first signal that ends a wait (kEnders). It stays set after take().
  std::optional<int> ended() const noexcept { return ended_; }
  bool any() const noexcept { return ended_.has_value(); }

  /// A second signal that ends a wait has arrived: end at once, even if a server has not confirmed an undo or a
  /// release.
  bool insisted() const noexcept { return insisted_; }

  /// Number of USR1 received: each asks for a wait line.
  int questions() const noexcept { return questions_; }

  /// Grows when a child of ours has ended, stopped or continued. The kernel merges such signals, so ask it for
  /// the news of each child.
  int child_changes() const noexcept { return child_changes_; }

  /// Was `number` ignored at our start?
  bool ignored(int number) const noexcept;

  /// Will `number` reach the command? It gets the mask and the dispositions that we had at our start.
  bool reaches_command(int number) const noexcept {
    return !ignored(number) && ::sigismember(&inherited_, number) == 0;
  }

  /// Restores the mask and dispositions of our start, for the command's process between fork and exec.
  void restore() const noexcept;

  int fd() const override { return fd_.number(); }
  void ready(short events, TimePoint now) override;

 private:
  void note(const Caught& caught);

  sigset_t inherited_;
  struct sigaction child_ended_;  ///< the disposition at our start
  Descriptor fd_;
  std::vector<Caught> caught_;
  std::optional<int> ended_;
  bool insisted_ = false;
  int questions_ = 0;
  int child_changes_ = 0;
  Membership membership_;
};

/// Ends this process by signal `number`, with its default action and without a core. PID 1 cannot be ended by its own
/// signal, so it exits with 128 + number.
[[noreturn]] void die_of(int number) noexcept;

/// "SIGTERM", "SIGRTMIN+3".
std::string signal_name(int number);

}  // namespace rlock
