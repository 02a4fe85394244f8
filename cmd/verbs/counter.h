#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/names.h"
#include "cmd/server/session.h"
#include "sync/calls/answers.h"

namespace rlock {

// What semaphores, pools of permits and latches have in common.

/// The largest number of permits, and of counts of a latch: Redisson counts them in 32 bits.
constexpr std::int64_t kLargestCount = 2147483647;

/// Throws Error{usage} if there are several servers, because only one has the numbers of a key. `what`: the subject of
/// the message, "a latch is".
void need_one_server(const Session& session, std::string_view what);

/// Prints the meaning of an answer about KEY, and returns the exit status. `exists` and `absent` are what people read
/// if there is one already, or none. Throws Error{wrong_type}.
int finish_counter(const LockName& key, const CounterAnswer& answer, const std::string& exists,
                   const std::string& absent);

}  // namespace rlock
