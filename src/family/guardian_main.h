#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ancestry.h"
#include "family/escalation.h"

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

/// The main function of the guardian process. It reads orders from the descriptor `orders`. It stops the
/// family of `guarded` when a deadline passes that no order has moved. It kills the family at once when the
/// pipe ends, because then rlock has died; after Order::ended it signals nothing. When no process is left and rlock
/// cannot release, it calls Guarded::when_nobody_lives.
[[noreturn]] void guardian_main(int orders, const Guarded& guarded, const Deadlines& deadlines);

}  // namespace rlock
