#pragma once

#include "cmd/run/held_keys.h"
#include "cmd/run/hold_request.h"

namespace rlock {

/// Leaves a process behind (loop/background) that keeps what `lock acquire --while-pid` has taken until the
/// script ends, or somebody releases it, and returns when that process is at work. `id`: what was printed.
///
/// The keeper is guarded as rlock run is: when it is killed, stopped or stuck, its guardian stops the script
/// in time. Throws Error{system} when there can be no such process, or when the script has ended.
void start_script_keeper(const HoldRequest& request, const HeldKeys& keys, const Owner& id);

}  // namespace rlock
