#include "sync/kinds/read_write.h"

#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

/// The key with the lease of one read hold of `owner`. Holds are counted from 1.
std::string timeout_key(const LockName& name, std::string_view owner, std::int64_t hold) {
  return suffix_name(name, owner) + ":rwlock_timeout:" + std::to_string(hold);
}

constinit const LockBase::Form kRead{.wanted = &kinds::read_write,
                                     .acquire = &scripts::read_acquire,
                                     .acquire_inner = nullptr,
                                     .renew = &scripts::read_renew,
                                     .release = &scripts::read_release};
constinit const LockBase::Form kWrite{.wanted = &kinds::read_write,
                                      .acquire = &scripts::write_acquire,
                                      .acquire_inner = nullptr,
                                      .renew = &scripts::write_renew,
                                      .release = &scripts::write_release};

}  // namespace

ReadWriteLock::ReadWriteLock(const Claim& claim, Hold hold, const Form& half, Values own)
    : LockBase(claim, hold, half, read_write_channel(claim.name), std::move(own)) {}

ReadLock::ReadLock(const Claim& claim, Hold hold)
    : ReadWriteLock(claim, hold, kRead,
                    {{Parameter::timeout, timeout_key(claim.name, claim.owner.str(), 1)},
                     {Parameter::beside, suffix_name(claim.name, "")}}) {}

WriteLock::WriteLock(const Claim& claim, Hold hold) : ReadWriteLock(claim, hold, kWrite) {}

Call ReadWriteLock::force(const LockName& name, const Owner& owner, PubSub pub_sub) {
  Values all{{Parameter::lock, name.str()},
             {Parameter::owner, owner.str()},
             {Parameter::channel, read_write_channel(name).str()},
             {Parameter::sharded, word(pub_sub)},
             {Parameter::beside, suffix_name(name, "")}};
  append(all, line_values(name));
  return call_of(scripts::read_write_force, std::move(all));
}

}  // namespace rlock
