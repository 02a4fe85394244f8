#include "cmd/hold/wait/queue_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace rlock {

/// Our first place in each line is at its end, so it tells how many waiters are ahead. A later place does not tell
/// this, because the line may have been lost and formed anew.
void QueueWatch::note_waiting(const Waiting& waiting) {
  if (waiting.busy == nullptr || !waiting.busy->position) return;
  if (counted_.insert(waiting.busy->key).second)
    ahead_ = std::max(ahead_.value_or(0), *waiting.busy->position - 1);
}

std::string QueueWatch::text() const {
  return fmt::format("{} in its queue (--queue-limit {})",
                     *ahead_ == 1 ? "1 waiter is" : fmt::format("{} waiters are", *ahead_), *limit_);
}

}  // namespace rlock
