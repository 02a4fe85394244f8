#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace rlock {

/// Somebody else has it.
struct Busy {
  /// Worth asking again then, announcement or not; nothing: only an announcement tells.
  std::optional<Milliseconds> retry_after{};
  bool no_ttl = false;                     ///< what stands there never frees itself
  std::optional<std::int64_t> position{};  ///< in the queue, from 1
  std::optional<std::int64_t> queue{};     ///< its length
  std::string member{};                    ///< of several keys: the busy one
  std::string holder{};                    ///< an owner who has it; empty where nobody can say
  std::optional<Milliseconds> rest{};      ///< of the holder's lease, when this was said
  TimePoint heard{};                       ///< when that was, by our clock; filled in by whoever waits
};

}  // namespace rlock
