#pragma once

#include <optional>

#include "sync/wait/acquire_options.h"

namespace rlock {

/// The time during which no server can be used, within one wait. AcquireOptions::first_contact limits it until a
/// round ends with "busy", AcquireOptions::outage after that. It has no clock.
class Outage {
 public:
  /// REQUIRES: the options outlive it.
  explicit Outage(const AcquireOptions& options) : options_(&options) {}

  /// A server could not be used: the outage begins, or goes on.
  void begin(TimePoint at) {
    if (!since_) since_ = at;
  }

  /// A server answered.
  void end() {
    contact_ = true;
    since_.reset();
  }

  /// When the outage ends the wait; kNever: there is no outage, or it has no limit.
  TimePoint limit() const { return limit_of(kNever); }

  /// Like limit(). But if there is no outage: when an outage that begins `now` would end the wait.
  TimePoint limit_of(TimePoint now) const {
    return plus(since_.value_or(now), contact_ ? options_->outage : options_->first_contact);
  }

 private:
  const AcquireOptions* options_;
  std::optional<TimePoint> since_;  ///< empty: there is no outage
  bool contact_ = false;            ///< a round ended with "busy": the servers can be used
};

}  // namespace rlock
