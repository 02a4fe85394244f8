#include "sync/kinds/plain.h"

#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/kind.h"

namespace rlock {

PlainLock::PlainLock(Claim claim, Pause pause, Hold hold)
    : claim_(std::move(claim)), pause_(pause), hold_(hold), requests_(claim_, hold) {}

Call PlainLock::enter(Milliseconds lease) const {
  return {.script = &scripts::plain_enter,
          .keys = {claim_.name.str()},
          .args = {claim_.owner.str(), number(lease)}};
}

Call PlainLock::ask(Milliseconds) const {
  if (hold_ == Hold::another) return enter(claim_.lease);
  Call call{.script = &scripts::plain_acquire,
            .keys = {claim_.name.str()},
            .args = {claim_.owner.str(), number(claim_.lease), number(kRequestMemory)}};
  if (requests_.counts_acquire()) call.keys.push_back(requests_.acquire());
  return call;
}

Attempt PlainLock::decode(const Reply& reply) const {
  return decode_attempt(claim_, kinds::plain.noun, reply);
}

std::optional<Call> PlainLock::undo(Wake) const {
  if (hold_ == Hold::another) return std::nullopt;
  return release_call({}, requests_.counts_acquire() ? Way::undo : Way::first);
}

Call PlainLock::renew() const {
  return {.script = &scripts::plain_renew,
          .keys = {claim_.name.str()},
          .args = {claim_.owner.str(), number(claim_.lease)}};
}

Call PlainLock::release(const ReleaseOptions& options) const {
  if (hold_ == Hold::another)
    return enter(Milliseconds{0});  // nothing to release: it is only asked whether the outer hold remains
  return release_call(options, requests_.release_way());
}

/// Of a token that is used only once no request is remembered:
/// nothing but it can have the lock by this token.
Call PlainLock::release_call(const ReleaseOptions& options, Way way) const {
  Call call{.script = &scripts::plain_release,
            .keys = {claim_.name.str()},
            .args = {claim_.owner.str(), number(options.keep_until.value_or(Milliseconds{0})),
                     number(kRequestMemory), word(way)}};
  if (way == Way::undo) call.keys.push_back(requests_.acquire());
  if (way == Way::again) call.keys.push_back(requests_.release());
  return call;
}

Released PlainLock::decode_release(const Reply& reply) const {
  if (hold_ == Hold::first) return decode_released(reply);
  return {.how = word_of(reply) == "held" ? Released::How::still_held : Released::How::was_not_ours};
}

Call PlainLock::force(const LockName& name, const Owner& token) {
  return {.script = &scripts::plain_force, .keys = {name.str()}, .args = {token.str()}};
}

}  // namespace rlock
