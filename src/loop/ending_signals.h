#pragma once

#include <signal.h>

#include <vector>

#include "base/descriptor.h"

namespace rlock {

/// For a wait without a Loop, such as a question on the terminal or a full pipe. While it lives, TERM, INT, QUIT, HUP and ALRM
/// do not end us; wait() returns them, and those in `more`. Those that are ignored stay ignored.
class EndingSignals {
 public:
  explicit EndingSignals(std::vector<int> more = {});
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

  /// Waits until `fd` is ready for `events` or a signal has come. Returns the signal; 0: none.
  [[nodiscard]] int wait(int fd, short events) const;

 private:
  sigset_t ours_, before_;
  Descriptor fd_;
};

}  // namespace rlock
