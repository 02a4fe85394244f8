#pragma once

#include "base/time.h"

namespace rlock {

/// Something that a Loop watches. Sources are passive: they are told, they do not ask, and they never pump:
/// no ready() calls Loop::turn(), so nobody has to think about re-entrancy.
class Source {
 public:
  virtual ~Source() = default;

  /// The descriptor to poll, or -1 for a source that knows only time.
  virtual int fd() const { return -1; }

  /// POLLIN, POLLOUT or both.
  virtual short interest() const { return 0; }

  /// When ready() should be called even if the descriptor stays silent.
  virtual TimePoint wake_at() const { return kNever; }

  /// Called when the descriptor has `events`, or with 0 when wake_at() has come.
  virtual void ready(short events, TimePoint now) = 0;
};

}  // namespace rlock
