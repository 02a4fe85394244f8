#pragma once

#include <chrono>

#include "base/time.h"

namespace rlock::test {

/// The present of tests that give the time themselves. It is far from the smallest time.
inline const TimePoint kNow = TimePoint{} + std::chrono::hours{1};

}  // namespace rlock::test
