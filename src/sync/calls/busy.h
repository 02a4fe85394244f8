#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/names.h"
#include "base/time.h"

namespace rlock {

/// The answer to an acquire that has to wait, for example because another owner holds the lock.
struct Busy {
  /// When to ask again, even without an announcement. Empty: the answer names no time.
  std::optional<Milliseconds> retry_after{};
  bool no_ttl = false;                     ///< the key has no TTL, so it never expires
  std::optional<std::int64_t> position{};  ///< our place in the line or queue, from 1
  std::optional<std::int64_t> waiters{};   ///< how many have a place there
  LockName key{};        ///< the busy key; the waiter fills it in if the answer does not name it
  std::string holder{};  ///< one owner that holds it; empty: unknown
  std::optional<Milliseconds> rest{};  ///< the rest of the holder's lease at the time of the answer
  TimePoint seen_at{};                 ///< the time of the answer by our clock; the waiter fills it in
};

}  // namespace rlock
