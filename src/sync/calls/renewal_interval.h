#pragma once

#include "base/time.h"

namespace rlock {

/// How often a holder renews its lease: two renewals may get lost within a lease. A waiter for a fair lock
/// asks as often, or more often if its wait timeout is short.
constexpr Milliseconds renewal_interval(Milliseconds lease) { return lease / 3; }

/// A holder whose last renewal is longer ago than this is in trouble or dead.
constexpr Milliseconds overdue_after(Milliseconds lease) { return lease / 2; }

}  // namespace rlock
