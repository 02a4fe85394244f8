#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace rlock::test {

/// Records the times in which this machine let no process run, as a shared machine does now and then. There
/// is one thread for each processor, with the highest priority that we may have. It sleeps for a millisecond
/// again and again, and records each late wake-up. In these times a process cannot keep its promises about
/// time.
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
