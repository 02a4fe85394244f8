#include "sync/kinds/lock.h"

#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"
#include "sync/kinds/kind.h"

namespace rlock {

Lock::Lock(Claim claim, Hold hold)
    : claim_(std::move(claim)),
      hold_(hold),
      requests_(claim_, hold),
      line_(claim_, lock_channel(claim_.name)) {}

std::vector<Channel> Lock::channels() const { return {lock_channel(claim_.name)}; }

/// Of a first hold the call of one key, without the line, works while a cluster slot moves, too.
Call Lock::ask(Milliseconds waited) const {
  const Script* const acquire = line_.exists() ? &scripts::lock_acquire : &scripts::quorum_lock_acquire;
  Call call{.script = hold_ == Hold::another ? &scripts::lock_enter : acquire,
            .keys = {claim_.name.str()},
            .args = {claim_.owner.str(), number(claim_.lease), number(kRequestMemory)}};
  if (hold_ == Hold::first) {
    if (!requests_.counts_acquire()) call.while_slot_moves.push_back(call);
    append(call.keys, line_.keys());
    append(call.args, line_.arguments(waited));
  }
  if (requests_.counts_acquire()) call.keys.push_back(requests_.acquire());
  return call;
}

Attempt Lock::decode(const Reply& reply) const { return decode_attempt(claim_, kinds::lock.noun, reply); }

std::optional<Call> Lock::undo(Wake wake) const {
  const ReleaseOptions options{.keep_until = {}, .wake = wake};
  return requests_.counts_acquire() ? release_call(options, Way::undo) : release(options);
}

Call Lock::renew() const {
  return {.script = &scripts::lock_renew,
          .keys = {claim_.name.str()},
          .args = {claim_.owner.str(), number(claim_.lease)}};
}

/// A first hold that is the only one can be released by a script of one key, too. Only a cluster ever asks
/// for that script.
Call Lock::release(const ReleaseOptions& options) const {
  Call call = release_call(options, requests_.release_way());
  if (requests_.release_way() == Way::first && queue_keys().empty()) {
    Call single = call;
    single.keys.resize(1);
    call.while_slot_moves.push_back(std::move(single));
  }
  return call;
}

Call Lock::release_any() const {
  Call call = Lock::release_call({}, Way::again);
  call.script = &scripts::fair_release;
  const auto queue = fair_queue_keys(claim_.name);
  call.keys.insert(call.keys.begin() + 1, queue.begin(), queue.end());
  return call;
}

Call Lock::release_call(const ReleaseOptions& options, Way way) const {
  Call call{
      .script = line_.exists() ? &scripts::lock_release : &scripts::quorum_lock_release,
      .keys = {claim_.name.str()},
      .args = {claim_.owner.str(), number(claim_.lease), number(options.keep_until.value_or(Milliseconds{0})),
               options.wake == Wake::nobody ? "" : announcement(), word(claim_.pub_sub),
               number(kRequestMemory), word(way), line_.releases().str()}};
  append(call.keys, queue_keys());
  append(call.keys, line_.keys());
  call.keys.push_back(way == Way::undo ? requests_.acquire() : requests_.release());
  // The request of an undo stays the last key: multi/lock looks for it there.
  if (way != Way::undo) call.keys.push_back(keep_key(claim_.name));
  return call;
}

Released Lock::decode_release(const Reply& reply) const {
  if (word_of(reply) != "held_inside") return decode_released(reply);
  return {.how = Released::How::still_held, .then = release_call({}, requests_.release_way())};
}

Call Lock::force(const LockName& name, const Owner& owner, PubSub pub_sub) {
  Call call{.script = &scripts::lock_force,
            .keys = {name.str()},
            .args = {owner.str(), lock_channel(name).str(), word(pub_sub)}};
  append(call.keys, fair_queue_keys(name));
  append(call.keys, line_keys(name));
  return call;
}

}  // namespace rlock
