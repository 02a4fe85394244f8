#include "sync/kinds/lock.h"

#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"

namespace rlock {

constinit const Lock::Form Lock::kForm{.wanted = &kinds::lock,
                                       .acquire = &scripts::lock_acquire,
                                       .acquire_inner = &scripts::lock_enter,
                                       .renew = &scripts::lock_renew,
                                       .release = &scripts::lock_release};

Lock::Lock(const Claim& claim, Hold hold, const Form& form, Values own)
    : LockBase(claim, hold, form, lock_channel(claim.name), std::move(own)) {}

Lock::Lock(const Claim& claim, Hold hold) : Lock(claim, hold, kForm, {}) {}

Call Lock::release_any() const {
  return release_by(scripts::fair_release, {}, hold() == Hold::inner ? Way::inner : Way::again,
                    queue_values(name()));
}

Call Lock::force(const LockName& name, const Owner& owner, PubSub pub_sub) {
  Values all{{Parameter::lock, name.str()},
             {Parameter::owner, owner.str()},
             {Parameter::channel, lock_channel(name).str()},
             {Parameter::sharded, word(pub_sub)}};
  append(all, queue_values(name));
  append(all, line_values(name));
  return call_of(scripts::lock_force, std::move(all));
}

}  // namespace rlock
