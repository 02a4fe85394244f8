#pragma once

#include <optional>
#include <utility>

#include "base/time.h"

namespace rlock {

/// How long the Sentinels' word for a primary counts, and how long calls wait for the next one. It knows times only.
///
/// An answer counts from its question: if rlock was suspended, the answer may have lain in its socket for minutes.
class Confirmation {
 public:
  /// For how long an answer is believed. A holder learns of a new primary within a third of its lease, and its lock
  /// stays on the old one for two thirds more. If the lease is 750 ms or more, a waiter that believes in the old one
  /// for this long still finds the lock held there.
  static constexpr Milliseconds kBelieved{500};

  /// For how long calls wait for an answer. If all Sentinels are silent, the primary serves on, and a lease of 1.5 s or
  /// more is still renewed in time.
  static constexpr Milliseconds kHeldBack{400};

  /// A question to the Sentinels begins.
  void asked(TimePoint now) noexcept {
    asked_at_ = now;
    held_back_ = false;
  }

  /// The answer to the newest question names our server.
  void confirmed() noexcept { named_at_ = asked_at_; }

  /// When the next question is due, whether the last one was answered or not.
  TimePoint ask_again_at() const { return plus(asked_at_, kBelieved); }

  /// Was our server named too long ago to be believed?
  bool is_outdated(TimePoint now) const { return !named_at_ || now >= plus(*named_at_, kBelieved); }

  /// Until when a call waits for the answer to the newest question. Empty: it does not wait, because our server was
  /// named a moment ago, or because a call has waited for this answer before.
  std::optional<TimePoint> hold_back(TimePoint now) {
    if (!is_outdated(now) || std::exchange(held_back_, true)) return std::nullopt;
    return plus(now, kHeldBack);
  }

 private:
  TimePoint asked_at_ = kNever;
  std::optional<TimePoint> named_at_;  ///< when the question began whose answer named our server
  bool held_back_ = false;
};

}  // namespace rlock
