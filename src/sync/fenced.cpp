#include "sync/fenced.h"

#include "scripts.h"
#include "sync/keys.h"

namespace rlock {

FencedLock::FencedLock(Claim claim, Hold hold)
    : Lock(std::move(claim), hold), token_(prefix_name("redisson_lock_token", name())) {}

Call FencedLock::ask() const {
  Call call = Lock::ask();
  call.script = call.script == &scripts::lock_enter ? &scripts::fenced_enter : &scripts::fenced_acquire;
  call.keys.insert(call.keys.begin() + 1, token_);
  return call;
}

}  // namespace rlock
