#pragma once

#include <signal.h>

#include <array>
#include <vector>

#include "base/descriptor.h"

namespace rlock {

/// Signals that end a wait. ALRM is one of them, because an alarm that was set before exec still arrives, and some
/// scripts use it as a timeout.
inline constexpr std::array kEnders{SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGALRM};

/// For a wait without a Loop, such as a question on the terminal or a full pipe. While it lives, kEnders do not end us;
/// wait() returns them, and those in `more`. Those that are ignored stay ignored.
class EndingSignals {
 public:
  explicit EndingSignals(std::vector<int> more = {});
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

  /// Waits until `fd` is ready for `events` or a signal has come. It has no deadline, because it waits for a person or
  /// for the reader of a pipe. Returns the signal; 0: none.
  [[nodiscard]] int wait(int fd, short events) const;

 private:
  sigset_t ours_, before_;
  Descriptor fd_;
};

}  // namespace rlock
