#pragma once

#include <functional>

#include "cmd/hold/keys/held_keys.h"
#include "cmd/hold/report/events.h"

namespace rlock {

/// Leaves a process behind (process/background) that keeps the locks of `lock acquire --while-pid` until the script
/// ends or the locks are released. When this keeper is at work, calls `then` and returns. From then on the keeper
/// reports the events. If `then` throws, the keeper ends and releases nothing.
///
/// The keeper has a guardian, as rlock run has: if the keeper is killed, stopped or stuck, the guardian stops
/// the script in time. Throws Error{system} if the keeper cannot be started, or if the script has ended.
void start_script_keeper(const HeldKeys& keys, Events& events, const std::function<void()>& then);

}  // namespace rlock
