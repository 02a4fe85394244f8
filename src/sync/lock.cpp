#include "sync/lock.h"

#include "base/random.h"
#include "scripts.h"
#include "sync/arguments.h"
#include "sync/keys.h"
#include "sync/requests.h"

namespace rlock {
namespace {

constexpr std::string_view kWhat = "a lock";

Channel channel_of(const LockName& name) { return Channel{prefix_name("redisson_lock__channel", name)}; }

}  // namespace

Lock::Lock(Claim claim, Hold hold)
    : claim_(std::move(claim)),
      hold_(hold),
      entering_(request_key(claim_.name, new_request())),
      leaving_(request_key(claim_.name, new_request())) {}

std::vector<Channel> Lock::channels() const { return {channel_of(claim_.name)}; }

Call Lock::ask() const {
  Call call{.script = &scripts::lock_acquire,
            .keys = {claim_.name.str()},
            .args = {claim_.owner.str(), number(claim_.lease)}};
  if (hold_ == Hold::another) {
    call.script = &scripts::lock_enter;
    call.keys.push_back(entering_);
    call.args.push_back(number(kRequestMemory));
  }
  return call;
}

Attempt Lock::read(const Reply& reply) const { return read_attempt(claim_, kWhat, reply); }

std::optional<Call> Lock::give_back() const {
  if (hold_ == Hold::first) return release({});
  return Call{
      .script = &scripts::lock_retract, .keys = {claim_.name.str(), entering_}, .args = {claim_.owner.str()}};
}

std::optional<Call> Lock::undo() const {
  return hold_ == Hold::first ? release({.keep_until = {}, .silently = true}) : give_back();
}

Call Lock::renew() const {
  return {.script = &scripts::lock_renew,
          .keys = {claim_.name.str()},
          .args = {claim_.owner.str(), number(claim_.lease)}};
}

bool Lock::read_renewal(const Reply& reply) const { return reply.integer() == 1; }

/// A first hold that is the only one is released by a script of one key: with a second one a cluster would refuse it for
/// as long as the slot migrates.
Call Lock::release(const Farewell& farewell) const {
  return release_call(farewell, queue_keys(), hold_ == Hold::another);
}

Call Lock::release_any() const { return release_call({}, fair_queue_keys(claim_.name), true); }

Call Lock::release_call(const Farewell& farewell, const std::vector<std::string>& queue, bool counted) const {
  Call call{
      .script = &scripts::lock_release,
      .keys = {claim_.name.str()},
      .args = {claim_.owner.str(), number(claim_.lease),
               number(farewell.keep_until.value_or(Milliseconds{0})), farewell.silently ? "" : announcement(),
               claim_.cluster ? "1" : "0", number(kRequestMemory)}};
  call.keys.insert(call.keys.end(), queue.begin(), queue.end());
  if (counted) call.keys.push_back(leaving_);
  return call;
}

Released Lock::read_release(const Reply& reply) const {
  if (reply.at(0).integer() != 3) return read_farewell(reply);
  return {.how = Released::How::still_held, .then = release_call({}, queue_keys(), true)};
}

Call Lock::force(const LockName& name, const Owner& owner, bool cluster) {
  Call call{.script = &scripts::lock_force,
            .keys = {name.str()},
            .args = {owner.str(), channel_of(name).str(), cluster ? "1" : "0"}};
  const auto queue = fair_queue_keys(name);
  call.keys.insert(call.keys.end(), queue.begin(), queue.end());
  return call;
}

}  // namespace rlock
