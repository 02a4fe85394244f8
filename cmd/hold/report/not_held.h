#pragma once

#include <optional>

namespace rlock {

/// Why there is no lock: the first of these reasons that is true.
struct NotHeld {
  enum class Why {
    signal,        ///< a signal ended the wait
    script_ended,  ///< the process of --while-pid has ended
    done,          ///< the work is done already (--once-per)
    deadlock,      ///< the wait would never end
    queue_full,    ///< --queue-limit: enough others wait already
    superseded,    ///< --newest: a newer waiter has come
    ancestor,      ///< the wait would never end, because a process above us holds the key
    absent,        ///< --owner: the owner that was named does not hold the key
    other          ///< see the GaveUp
  } why = Why::other;
  int exit = 0;               ///< the exit status
  std::optional<int> signal;  ///< the signal; the caller dies of it at the very end
};

}  // namespace rlock
