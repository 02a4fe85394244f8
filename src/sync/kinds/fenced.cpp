#include "sync/kinds/fenced.h"

#include "scripts.h"
#include "sync/kinds/keys.h"

namespace rlock {
namespace {

constinit const LockBase::Form kFenced{&kinds::lock, &scripts::fenced_acquire, &scripts::fenced_enter,
                                       &scripts::lock_renew, &scripts::lock_release};

}  // namespace

/// No release deletes the token, so the next hold draws a larger one.
FencedLock::FencedLock(const Claim& claim, Hold hold)
    : Lock(claim, hold, kFenced, {{Parameter::token, token_key(claim.name)}}) {}

}  // namespace rlock
