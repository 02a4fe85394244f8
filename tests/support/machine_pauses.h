#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace rlock::test {

/// The times in which this machine let nobody run, as a shared one does now and then: a thread for each
/// processor, of the highest priority that we may have, sleeps for a millisecond again and again, and notes
/// when it was woken late. What a process promises about time it cannot keep meanwhile.
class MachinePauses {
 public:
  MachinePauses();

  /// Nanoseconds of CLOCK_BOOTTIME in which at least one processor stood still between the two moments.
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
