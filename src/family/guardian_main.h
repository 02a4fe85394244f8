#pragma once

#include "family/guardian_loop.h"

namespace rlock {

/// The main function of the guardian process. It reads orders from the descriptor `orders`. It stops the
/// family of `guarded` when a deadline passes that no order has moved. It kills the family at once when the
/// pipe ends, because then rlock has died; after Order::ended it signals nothing. When no process is left and rlock
/// cannot release, it calls Guarded::when_nobody_lives.
[[noreturn]] void guardian_main(int orders, const Guarded& guarded, const Deadlines& deadlines);

}  // namespace rlock
