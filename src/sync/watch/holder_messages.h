#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/reply.h"

namespace rlock {

/// How others reach the rlock that keeps a hold: by messages on a channel of its owner, where it has waited
/// in the line before, and by a mark that stays when a message is lost. Among the names of Redisson, as all
/// that stands beside a lock: an ACL made for Redisson suffices.
Channel holder_channel(const LockName& name, const Owner& owner);

/// Tells whoever keeps the hold; the answer is how many have heard it, as far as one server knows.
Call tell_holder(const LockName& name, const Owner& owner, std::string text);

/// A message that asks the holder to end. `who`: "alice@ops"; `why`: may be empty.
std::string stop_request(std::string_view who, std::string_view why);

/// A message that tells the holder that its lock was removed by force. It is a hint: whether that is so a
/// renewal tells.
std::string removal_notice(std::string_view who, std::string_view why);

/// What such messages say, for a person, sanitized: "alice@ops: stuck since noon". Nothing: it is another one.
std::optional<std::string> read_stop_request(std::string_view text);
std::optional<std::string> read_removal_notice(std::string_view text);

/// The same from what both consist of, not sanitized.
std::string by_whom(std::string_view who, std::string_view why);

/// A release by the owner itself, elsewhere: it is no loss to whoever keeps the hold. `stays`: for so long
/// the keeper may not have noticed.
Call mark_released(const LockName& name, const Owner& owner, Milliseconds stays);
Call ask_released(const LockName& name, const Owner& owner);
bool read_released(const Reply& reply);  ///< an error is no yes

}  // namespace rlock
