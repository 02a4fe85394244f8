#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sync/calls/claim.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// Decodes the answers that the scripts of most kinds of lock have in common. Each answer begins with a word, which
/// has the same meaning in every script. What follows the word may differ: FairLock, PermitLock and FreeWait decode
/// some answers themselves. All functions here throw Error{internal} if a reply has another shape.

/// The first item of the reply: a word.
std::string word_of(const Reply& reply);

/// Throws Error{internal}: no script gives this answer. `question` names the call, for example "release".
[[noreturn]] void refuse_word(std::string_view question, const Reply& reply);

/// Answers to an acquire:
///   {held, now[, token]}
///   {busy, pttl, holder}, or where waiters have places, what decode_place() decodes
///   {not_ours}          one more hold was asked for, but this owner has none; or it is a late copy of an acquire whose
///                       hold has ended
///   {upgrade}           this owner already holds the lock for reading and would wait for itself
///   {superseded, text}  a newer waiter has arrived; `text` is its description of itself
///   {foreign, kind}     the key holds something else
/// `wanted` names the synchronizer in a refusal: "a lock".
AcquireAnswer decode_acquire(const Claim& claim, std::string_view wanted, const Reply& reply);

/// The answer that another owner holds the key. `pttl`: for at most how many ms; -1: the key has no TTL.
/// `holder`: one owner; nil: it is unknown.
Busy busy_until(const Reply& pttl, const Reply& holder = {});

/// Answers to a release: {released, why}; {still_held}: another hold of the owner goes on, or others share this one;
/// {kept, rest}; {not_ours}. The class of the lock decodes all other answers.
Released decode_released(const Reply& reply);

/// The result of a removal by force.
struct Forced {
  enum class How {
    removed,
    nothing_there,
    other_owner,  ///< see `other`
    refused,      ///< see `refused`
  } how = How::removed;
  std::string other{};
  std::string unannounced{};  ///< why waiters could not be told; else empty
  Refused refused{};
};

/// Answers to a removal by force: {removed, why}; {absent}; {other_owner, other}; {foreign, kind}: the key
/// holds something else.
Forced decode_forced(const LockName& name, std::string_view wanted, const Reply& reply);

/// The result of an operation on a semaphore, a pool of permits or a latch.
struct CounterAnswer {
  enum class How {
    done,
    exists,   ///< there is one already, unchanged
    absent,   ///< there is none
    refused,  ///< see `refused`
  } how = How::done;
  std::int64_t count = 0;     ///< see the call
  std::string unannounced{};  ///< why waiters could not be told; else empty
  Refused refused{};
};

/// Answers to such an operation: {done[, count][, why]}; {found, count}; {exists[, count]}; {absent}; {foreign, kind}:
/// the key holds something else.
CounterAnswer decode_counter(const LockName& name, std::string_view wanted, const Reply& reply);

/// The same for a call that must be answered with the count. A count that is missing would look like 0.
CounterAnswer decode_count(const LockName& name, std::string_view wanted, const Reply& reply);

}  // namespace rlock
