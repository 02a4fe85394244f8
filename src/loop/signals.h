#pragma once

#include <signal.h>
#include <sys/types.h>

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "loop/loop.h"
#include "loop/source.h"

namespace rlock {

/// A signal that has come.
struct Caught {
  int number;
  bool by_process;  ///< by kill(), sigqueue() and the like; else by the kernel: the terminal, a timer
  pid_t sender;     ///< 0 when it lives in another pid namespace
};

/// Signals as facts: from construction on none interrupts or ends us, each waits until it is read. But ^Z
/// stops us like any process, until take_stops().
///
/// What was ignored when we were started (nohup, background jobs of sh) stays
/// ignored. SIGCHLD gets its default action, so that the kernel does not reap for us, and SIGPIPE
/// is ignored. Not handled: KILL, STOP, and the faults (SEGV, BUS, FPE,
/// ILL, TRAP, SYS). SIGCHLD is only blocked: Child reads it.
/// REQUIRES: no other thread, and no other Signals.
class Signals final : public Source {
 public:
  explicit Signals(Loop& loop);
  ~Signals() override;
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Reads what has come now instead of at the next turn.
  void drain();

  /// For a wait that does not turn the loop: drains, and answers any().
  [[nodiscard]] bool drain_any();

  /// Drains: has `number` come since the last take()?
  bool has_come(int number);

  /// From here on TSTP is a fact as well: we have a command to stop before us.
  void take_stops() const noexcept;

  /// Sends TSTP to `whom`, as kill() takes it (our pid, or 0: our group), is stopped by it, and returns when
  /// somebody has continued us. A CONT that has not been read yet, or that comes before we stop, is enough:
  /// when TSTP is sent the kernel discards a pending CONT, and there would be no other one.
  /// REQUIRES: take_stops()
  void stop(pid_t whom);

  /// What has come since the last take().
  std::vector<Caught> take();

  /// The first signal that ends a wait (TERM, INT, QUIT, HUP, ALRM); a fact that stays true, take() or not.
  std::optional<int> ended() const noexcept { return ended_; }
  bool any() const noexcept { return ended_.has_value(); }

  /// A second one of these has come: end at once, whatever is not confirmed yet.
  bool insisted() const noexcept { return insisted_; }

  /// How many USR1 have come: each asks for a line on what we are waiting for.
  int questions() const noexcept { return questions_; }

  /// The mask with which we were started.
  const sigset_t& inherited() const noexcept { return inherited_; }

  /// Was `number` ignored when we were started?
  bool ignored(int number) const noexcept { return ignored_[static_cast<std::size_t>(number)]; }

  /// Will `number` reach the command, whose mask and dispositions are those with which we were started?
  bool reaches_command(int number) const noexcept {
    return !ignored(number) && ::sigismember(&inherited_, number) == 0;
  }

  /// Mask and dispositions as we found them. For the command's process, between fork and exec.
  void restore() const noexcept;

  int fd() const override { return fd_.number(); }
  short interest() const override;
  void ready(short events, TimePoint now) override;

 private:
  void note(const Caught& caught);

  Loop& loop_;
  sigset_t inherited_;
  std::bitset<NSIG> ignored_;
  struct sigaction child_ended_;  ///< as we found it
  struct sigaction pipe_closed_;  ///< as we found it
  Descriptor fd_;
  std::vector<Caught> caught_;
  std::optional<int> ended_;
  bool insisted_ = false;
  int questions_ = 0;
};

/// Ends this process by `number`, with its default action and without a core of ours; as PID 1, which no
/// signal of its own can end, with 128 + number.
[[noreturn]] void die_of(int number) noexcept;

/// "SIGTERM", "SIGRTMIN+3".
std::string signal_name(int number);

}  // namespace rlock
