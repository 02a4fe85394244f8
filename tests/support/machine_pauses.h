#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace rlock::test {

/// Records the times in which a processor of this machine stood still, as happens now and then on a shared
/// machine. In these times a process cannot keep its promises about time. Each processor has a thread with the
/// highest priority that we may have. The thread sleeps for a millisecond again and again, and records late wake-ups.
class MachinePauses {
 public:
  MachinePauses();

  /// The nanoseconds between two times (of CLOCK_BOOTTIME) in which at least one processor stood still.
  std::int64_t between(std::int64_t from, std::int64_t to) const;

 private:
  struct Pause {
    std::int64_t from, to;
  };
  void look(const std::stop_token& stop, int processor);

  mutable std::mutex mutex_;
  std::vector<Pause> pauses_;
  std::vector<std::jthread> threads_;
};

}  // namespace rlock::test
