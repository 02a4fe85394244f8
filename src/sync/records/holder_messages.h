#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/reply.h"

namespace rlock {

/// Two ways lead to the rlock that keeps a hold: messages on a channel of the owner, and a mark (mark_released()). The
/// mark stays if a message is lost. That rlock listened on the channel also while it waited. The names
/// are among Redisson's, so an ACL made for Redisson suffices.
Channel holder_channel(const LockName& name, const Owner& owner);

/// Publishes a message to the keeper of the hold. The reply is the number of subscribers that got it from
/// this server.
Call tell_holder(const LockName& name, const Owner& owner, std::string text);

/// The message that asks a holder to stop. `who`: "alice@ops"; `why` may be empty.
std::string stop_request(std::string_view who, std::string_view why);

/// The message that tells a holder that its lock was removed by force. It is only a hint: a renewal finds out
/// the truth.
std::string removal_notice(std::string_view who, std::string_view why);

/// The text of such a message for people, sanitized: "alice@ops: stuck since noon". Empty: it is another
/// message.
std::optional<std::string> read_stop_request(std::string_view text);
std::optional<std::string> read_removal_notice(std::string_view text);

/// The text "alice@ops: stuck since noon" from these two values, not sanitized.
std::string by_whom(std::string_view who, std::string_view why);

/// A message that tells the keeper of a hold that the owner itself has released it, by another process.
inline constexpr std::string_view kReleased = "released";

/// Marks that the owner itself released the hold, by another process, so that its keeper does not take this
/// for a loss. `stays`: how long the mark stays for the keeper to see.
Call mark_released(const LockName& name, const Owner& owner, Milliseconds stays);
Call ask_released(const LockName& name, const Owner& owner);
bool read_released(const Reply& reply);  ///< false for an error reply too

/// Lets the mark and the number of a release that has happened stay longer.
std::vector<Call> prolong_mark(const LockName& name, const Owner& owner, Milliseconds stays);

/// If the user named the owner, it may acquire the lock again while the mark of an earlier release stays. So
/// each release also writes a new number beside the mark. If a keeper finds the number that was there at its
/// start, it ignores the mark.
Call number_release(const LockName& name, const Owner& owner, Milliseconds stays);
Call ask_release_number(const LockName& name, const Owner& owner);
std::string read_release_number(const Reply& reply);  ///< empty: there is none

}  // namespace rlock
