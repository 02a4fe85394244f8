#pragma once

#include <poll.h>

#include "base/time.h"

namespace rlock {

/// Something that a Loop watches. Sources are passive: the loop calls them. A source's ready() never calls
/// Loop::turn(), so there is no re-entrancy.
class Source {
 public:
  virtual ~Source() = default;

  /// The descriptor to poll; -1: the source has only times.
  virtual int fd() const { return -1; }

  /// POLLIN, POLLOUT or both.
  virtual short interest() const { return POLLIN; }

  /// When to call ready() even if the descriptor has no event.
  virtual TimePoint wake_at() const { return kNever; }

  /// Called with the events of the descriptor, or with 0 when wake_at() is due.
  virtual void ready(short events, TimePoint now) = 0;
};

}  // namespace rlock
