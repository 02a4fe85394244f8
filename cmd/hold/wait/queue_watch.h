#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/names.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// For --queue-limit: are as many waiters ahead of us as it says, or more?
class QueueWatch {
 public:
  explicit QueueWatch(std::optional<std::int64_t> limit) : limit_(limit) {}

  /// For AcquireOptions::report.
  void note_waiting(const Waiting& waiting);

  bool full() const { return limit_ && ahead_ && *ahead_ >= *limit_; }

  /// "2 waiters are in its queue (--queue-limit 2)". REQUIRES: full()
  std::string text() const;

 private:
  std::optional<std::int64_t> limit_;
  std::optional<std::int64_t> ahead_;  ///< the number of waiters before us, of the longest queue
  std::set<LockName> counted_;         ///< the keys in whose queues they were counted
};

}  // namespace rlock
