#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "loop/insistence.h"

namespace rlock {

/// Whom a guardian watches, and how he is to be stopped.
struct Charge {
  int signal = 15;
  pid_t group = 0;                 ///< 0: will be told
  pid_t session = 0;               ///< of rlock
  std::vector<std::string> marks;  ///< see Family
};

/// What is written into a guardian's pipe, one at a time and each in one write.
struct Order {
  enum Kind : int { group, deadlines, stop_sent, dismissed } kind;
  pid_t pid = 0;         ///< group
  Deadlines until = {};  ///< deadlines
};

/// How much longer than rlock the guardian waits before it sends the stop signal, lest a command whose rlock is well and
/// just about to send it gets two. KILL may come twice, so nobody waits for that.
constexpr Milliseconds kAfterYou{100};

/// The life of a guardian, in the process that was forked for it: reads orders from the descriptor `orders`; stops the
/// family of `charge` when a deadline comes that nobody has moved, and kills it at once when the pipe ends, for then
/// rlock has died.
[[noreturn]] void keep_vigil(int orders, const Charge& charge, const Deadlines& deadlines);

}  // namespace rlock
