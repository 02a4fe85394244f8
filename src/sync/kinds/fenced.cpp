#include "sync/kinds/fenced.h"

#include "scripts.h"
#include "sync/kinds/keys.h"

namespace rlock {

FencedLock::FencedLock(Claim claim, Hold hold)
    : Lock(std::move(claim), hold), token_(prefix_name("redisson_lock_token", name())) {}

Call FencedLock::ask(Milliseconds waited) const {
  Call call = Lock::ask(waited);
  call.while_slot_moves.clear();  // it takes two keys in any case
  call.script = call.script == &scripts::lock_enter ? &scripts::fenced_enter : &scripts::fenced_acquire;
  call.keys.insert(call.keys.begin() + 1, token_);
  return call;
}

}  // namespace rlock
