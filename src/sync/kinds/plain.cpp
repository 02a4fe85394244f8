#include "sync/kinds/plain.h"

#include "scripts.h"

namespace rlock {
namespace {

constinit const PlainLock::Form kPlain{.wanted = &kinds::plain,
                                       .acquire = &scripts::plain_acquire,
                                       .acquire_inner = &scripts::plain_enter,
                                       .renew = &scripts::plain_renew,
                                       .release = &scripts::plain_release,
                                       .counts = false};

}  // namespace

PlainLock::PlainLock(const Claim& claim, Pause pause, Hold hold)
    : LockBase(without_place(claim), hold, kPlain, {}), pause_(pause) {}

Call PlainLock::force(const LockName& name, const Owner& token) {
  return call_of(scripts::plain_force, {{Parameter::lock, name.str()}, {Parameter::owner, token.str()}});
}

}  // namespace rlock
