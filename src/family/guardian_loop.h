#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ancestry.h"
#include "family/command_family.h"
#include "family/escalation.h"
#include "family/family.h"
#include "loop/source.h"

namespace rlock {

/// The reason why the guardian ends the hold instead of rlock.
enum class RlockEnd {
  killed,   ///< it has died
  stopped,  ///< it stands still (SIGSTOP, ^Z), and its time to renew is over
};

/// What a guardian knows when rlock has left it alone with the lock.
struct LeftAlone {
  RlockEnd how;
  bool ended = false;             ///< see Order::ended
  std::optional<int> exit{};      ///< see Order::exit
  TimePoint good_until = kNever;  ///< the deadline of KILL: until then the lock is surely ours
};

/// The processes that a guardian watches, and the signal that stops them.
struct Guarded {
  int signal = SIGTERM;
  pid_t group = 0;                 ///< 0: an Order will name it
  pid_t session = 0;               ///< rlock's session
  ProcessId script = {};           ///< instead of a group: see ScriptFamily
  std::vector<std::string> marks;  ///< see CommandFamily
  bool ended = false;              ///< see Order::ended
  std::optional<int> exit{};       ///< see Order::exit

  /// What to do if no guarded process lives and rlock cannot do it. Called in the guardian, which has no descriptor
  /// of rlock's. The guardian ends afterwards.
  std::function<void(const LeftAlone&)> when_nobody_lives{};
};

/// What is written into a guardian's pipe, one at a time and each in one write.
struct Order {
  enum Kind : int {
    group,
    deadlines,
    stop_sent,
    ended,  ///< the command has ended: no process may be signalled any more, and only the release is left to guard
    dismissed,
  } kind;
  pid_t pid = 0;         ///< for `group`
  Deadlines until = {};  ///< for `deadlines`
  /// For `ended`: the exit code of the command, not 0 if --max-hold stopped it. Empty: there is none, or rlock stop
  /// stopped the command.
  std::optional<int> exit = {};
};

/// How much later than rlock the guardian sends the stop signal, so that a command gets it only once while rlock
/// works. KILL may come twice, so it needs no delay.
constexpr Milliseconds kLaterThanRlock{100};

/// What the guardian does, from turn to turn.
class GuardianLoop final : public Source {
 public:
  /// `orders`: the pipe from rlock, not blocking. `rlock`: its process. `family`: the guarded processes, which are those of
  /// `command` or the family of a script.
  GuardianLoop(int orders, pid_t rlock, const Guarded& guarded, Family& family, CommandFamily& command,
               const Deadlines& deadlines);

  // A pipe that has ended is always ready, so the loop would never sleep again if it still watched the pipe.
  int fd() const override { return orphaned() ? -1 : orders_; }
  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

  bool over() const noexcept { return over_; }  ///< nothing is left to do here

  /// Set if no process seems to live any more and rlock cannot release. Empty if rlock can, or if a process
  /// may live.
  std::optional<LeftAlone> left_alone() const;

 private:
  /// What the guardian does about the command's processes.
  enum class Stage {
    signals,  ///< some may live: Escalation says which signal they get, and when
    rests,    ///< KILL has left none in the command's group; if check() finds others, they are signalled
    ended,    ///< see Order::ended: no process is signalled any more
  };

  bool signals() const noexcept { return stage_ == Stage::signals; }
  bool orphaned() const { return give_up_ != kNever; }  ///< rlock has died
  TimePoint ends() const;
  void look(TimePoint now);
  void await_others(TimePoint now);
  void check(TimePoint now);
  void read_orders(TimePoint now);
  void guard_release(std::optional<int> exit);
  void obey(const Order& order);

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
  Milliseconds look_again_;                 ///< the pause before the look after that
  std::optional<RlockEnd> end_;
  bool over_ = false;
};

}  // namespace rlock
