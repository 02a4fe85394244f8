#pragma once

#include <string>
#include <string_view>

#include "sync/kinds/claim.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// What the scripts of every kind of lock answer alike, decoded once. Each answer begins with a word, which
/// means the same in every script. All of these throw Error{internal} for a reply that is out of shape.

/// The first item, a word.
std::string word_of(const Reply& reply);

/// Throws Error{internal}: no script answers this word to `question`, "release".
[[noreturn]] void refuse_word(std::string_view question, const Reply& reply);

/// To acquire: {held, now[, token]}; {busy, pttl, holder}; {not_ours}: one more hold was asked for, and this
/// owner has none; {upgrade}: it would wait for itself; {superseded, who}: a newer waiter has come, who says this
/// of itself; {foreign, kind}: something else stands there.
/// `wanted` is what was asked for: "a lock".
Attempt decode_attempt(const Claim& claim, std::string_view wanted, const Reply& reply);

/// To release: {released, why}; {still_held}: an outer hold remains; {kept, rest}; {not_ours}. What else a
/// script may answer is the lock's own business.
Released decode_released(const Reply& reply);

/// What force came to.
struct Forced {
  enum class How {
    removed,
    nothing_there,
    other_owner,  ///< see `other`
    refused,      ///< see `refused`
  } how = How::removed;
  std::string other{};
  std::string unannounced{};  ///< why waiters could not be told; empty when they were
  Refused refused{};
};

/// To force: {removed, why}; {absent}; {other_owner, other}; {foreign, kind}: something else stands there.
Forced decode_forced(const LockName& name, std::string_view wanted, const Reply& reply);

}  // namespace rlock
