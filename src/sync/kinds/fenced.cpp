#include "sync/kinds/fenced.h"

#include "scripts.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

constinit const LockBase::Form kFenced{.wanted = &kinds::lock,
                                       .acquire = &scripts::fenced_acquire,
                                       .acquire_inner = &scripts::fenced_enter,
                                       .renew = &scripts::lock_renew,
                                       .release = &scripts::lock_release};

}  // namespace

/// No release deletes the token, so the next hold draws a larger one.
FencedLock::FencedLock(const Claim& claim, Hold hold)
    : Lock(claim, hold, kFenced, {{Parameter::token, token_key(claim.name)}}) {}

}  // namespace rlock
